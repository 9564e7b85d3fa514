export { schedulerGates } from "./acting-gates.ts";
export { type SchedulerOptions, runScheduler } from "./scheduler.ts";
export {
  type Profile,
  type ProfileSettings,
  defaultPlugins,
  defaultSchedulerName,
  profileFrom,
} from "./profile.ts";
export { type ExplainOptions, type Explanation, explainPod } from "./explain.ts";
export { type LeaderElection, type SchedulerConfiguration, schedulerConfiguration } from "./configuration.ts";
