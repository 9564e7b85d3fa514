// `/healthz` and a path for each of its checks. What fails is told on the check's own path only: the common
// one is asked by everybody.
import { plainReply } from "#http";
import { text } from "./replies.ts";
import type { Route, RouteHandler } from "./routes.ts";

export interface HealthCheck {
  readonly name: string;
  /** What is wrong, or undefined. */
  readonly problem: () => string | undefined;
}

export const healthRoutes = (checks: readonly HealthCheck[]): Route[] => [
  { path: "/healthz", answer: together(checks) },
  ...checks.map(({ name, problem }) => ({
    path: `/healthz/${name}`,
    answer: () => {
      const found = problem();
      return found === undefined ? text(200, "ok") : plainReply(500, `internal server error: ${found}`);
    },
  })),
];

const together =
  (checks: readonly HealthCheck[]): RouteHandler =>
  ({ query }) => {
    const excluded = new Set(query.all("exclude"));
    let hasFailed = false;
    const lines = checks.map(({ name, problem }) => {
      if (excluded.delete(name)) return `[+]${name} excluded: ok\n`;
      if (problem() === undefined) return `[+]${name} ok\n`;
      hasFailed = true;
      return `[-]${name} failed: reason withheld\n`;
    });
    const unknown = [...excluded].toSorted().map((name) => JSON.stringify(name));
    if (unknown.length > 0)
      lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.join(",")}\n`);
    if (hasFailed) return plainReply(500, `${lines.join("")}healthz check failed`);
    return text(200, query.has("verbose") ? `${lines.join("")}healthz check passed\n` : "ok", {
      "x-content-type-options": "nosniff",
    });
  };
