export { type SchedulerOptions, runScheduler, schedulerName } from "./scheduler.ts";
export { type Choice, choose } from "./choose.ts";
