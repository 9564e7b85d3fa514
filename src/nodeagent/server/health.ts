// `/healthz` and one path for each of its checks.
import { type HealthCheck, type HealthObserver, checkReply, checksReply } from "#http";
import type { Route } from "./routes.ts";

export const healthRoutes = (checks: readonly HealthCheck[], observer: HealthObserver): Route[] => [
  { path: "/healthz", answer: ({ query }) => checksReply({ endpoint: "healthz", checks, query, observer }) },
  ...checks.map((check) => ({ path: `/healthz/${check.name}`, answer: () => checkReply(check) })),
];
