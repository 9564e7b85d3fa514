// `/healthz` and a path for each of its checks.
import { type HealthCheck, checkReply, checksReply } from "#http";
import type { Route } from "./routes.ts";

export const healthRoutes = (checks: readonly HealthCheck[]): Route[] => [
  { path: "/healthz", answer: ({ query }) => checksReply({ endpoint: "healthz", checks, query }) },
  ...checks.map((check) => ({ path: `/healthz/${check.name}`, answer: () => checkReply(check) })),
];
