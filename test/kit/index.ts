export { golden } from "./golden.ts";
export { needs, programPath } from "./needs.ts";
