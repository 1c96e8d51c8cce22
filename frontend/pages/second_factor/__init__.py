"""What allauth is told of second factors: how their secrets are kept, when one is asked for, and when one is
due."""
