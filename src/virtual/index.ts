export { dictionary } from "./connect/spdy.ts";
export { virtualGroups } from "./virtual-groups.ts";
