// @ts-check
/** Progress of a release that is being frozen. */

import { watchJobs } from "../lib/job_progress.js";

watchJobs();
