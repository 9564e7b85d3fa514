// Options that limit requests and retained data.

import {
  atLeast,
  between,
  bool,
  duration,
  float,
  int,
  mapOf,
  notNegative,
  oneOf,
  option,
  section,
} from "#options";

const limitsProblem = (limits: Readonly<Record<string, number>>): string | undefined =>
  Object.values(limits).some((limit) => limit < 0) ? "must not be negative" : undefined;

export const limitsSection = () =>
  section("Limits", [
    option({
      flag: "max-requests-inflight",
      type: int,
      default: 400,
      check: atLeast(0),
      doc: "With priority and fairness, the sum of this and --max-mutating-requests-inflight is the total concurrency, which must be positive. Otherwise the maximum number of non-mutating requests in flight; 0 means unlimited.",
    }),
    option({
      flag: "max-mutating-requests-inflight",
      type: int,
      default: 200,
      check: atLeast(0),
      doc: "With priority and fairness, a part of the total concurrency. Otherwise the maximum number of mutating requests in flight; 0 means unlimited.",
    }),
    option({
      flag: "enable-priority-and-fairness",
      type: bool,
      default: true,
      doc: "Queue requests by priority instead of rejecting them above a limit; needs the feature gate APIPriorityAndFairness.",
    }),
    option({
      flag: "request-timeout",
      type: duration,
      default: 60_000,
      check: (value) => (value <= 0 ? "must be above 0" : undefined),
      doc: "Timeout of requests, except for request types with a separate timeout.",
    }),
    option({
      flag: "min-request-timeout",
      type: int,
      default: 1800,
      check: atLeast(0),
      doc: "Minimum time in seconds that a watch is kept open; each watch gets a random timeout above it.",
    }),
    option({
      flag: "goaway-chance",
      type: float,
      default: 0,
      check: between(0, 0.02),
      doc: "Probability, from 0 to 0.02, of sending GOAWAY to an HTTP/2 client after a request, so that it reconnects and clients are spread over the servers. Do not set it with a single server or without a load balancer.",
    }),
    option({
      flag: "http2-max-streams-per-connection",
      type: int,
      default: 0,
      check: between(0, 2 ** 31 - 1),
      doc: "Maximum number of concurrent streams per HTTP/2 connection; 0 means the runtime's default.",
    }),
    option({
      flag: "http2-implementation",
      type: oneOf("builtin", "node"),
      default: "builtin",
      doc: "HTTP/2 implementation: `builtin`, or `node`, that of the runtime, which uses about three times as much CPU time. A fallback in case the builtin one does not work with a client.",
    }),
    option({
      flag: "max-connection-bytes-per-sec",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Maximum bytes per second of a user's connection, for long-running requests; 0 means unlimited.",
    }),
    option({
      flag: "event-ttl",
      type: duration,
      default: 3_600_000,
      check: notNegative,
      doc: "How long events are retained.",
    }),
    option({
      flag: "event-max-count",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Maximum number of events; 0 means unlimited. The oldest are removed first, warnings only if no other events are left. Events removed early are counted in a metric.",
    }),
    option({
      flag: "event-max-bytes",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Maximum size of all events in bytes; 0 means unlimited.",
    }),
    option({
      flag: "event-max-count-per-namespace",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Maximum number of events per namespace; 0 means unlimited.",
    }),
    option({
      flag: "event-max-bytes-per-namespace",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Maximum size of the events of a namespace in bytes; 0 means unlimited.",
    }),
    option({
      flag: "event-max-count-per-type",
      type: mapOf(int, { keys: ["Normal", "Warning"] }),
      default: {},
      check: limitsProblem,
      doc: "Maximum number of events per type, such as Normal=10000,Warning=50000; 0 means unlimited.",
    }),
    option({
      flag: "event-max-bytes-per-type",
      type: mapOf(int, { keys: ["Normal", "Warning"] }),
      default: {},
      check: limitsProblem,
      doc: "Maximum size of the events of a type in bytes, per type; 0 means unlimited.",
    }),
    option({
      flag: "event-fold-after",
      type: int,
      default: 0,
      check: (value) => (value === 0 || value >= 2 ? undefined : "must be 0 or at least 2"),
      doc: "Fold events with the same object, reason, type and controller into a series when more than this number of them is stored. The first and the last event are kept, and the first one records how many were folded. 0 disables folding.",
    }),
    option({
      flag: "timeline-max-bytes",
      type: int,
      default: 16 * 1024 * 1024,
      check: atLeast(0),
      doc: "Memory in bytes for the object changes shown in the event timeline. Changes are retained as long as events; those that do not fit are removed early and counted in a metric.",
    }),
  ]);
