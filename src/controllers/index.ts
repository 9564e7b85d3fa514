export { type ClusterView, type Seen, type ViewOptions, clusterView } from "./cluster-view.ts";
export { type Happening, type Recorder, recorder } from "./recorder.ts";
export { type WorkQueue, type WorkQueueOptions, workQueue } from "./work-queue.ts";
export { type ControllersOptions, runControllers } from "./run.ts";
