export { type SchedulerOptions, runScheduler } from "./scheduler.ts";
export {
  type Profile,
  type ProfileSettings,
  defaultPlugins,
  defaultSchedulerName,
  profileFrom,
} from "./profile.ts";
