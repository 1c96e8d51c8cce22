"""Pages of disputes, discussions and cases."""
