// Probes and lifecycle hooks of containers.
import {
  type TypeOf,
  embedded,
  inline,
  int32,
  int64,
  intOrString,
  list,
  optional,
  pointer,
  required,
  string,
} from "#schema";
import { hiddenDefault, gated, openEnum } from "../extras.ts";
import { core } from "../packages.ts";

const { message, named } = core;

export const HTTPHeader = message("HTTPHeader", "One header of a request.", {
  name: required(1, string, "Name of the header; spelled canonically when sent."),
  value: required(2, string, "Value of the header."),
});
export type HTTPHeader = TypeOf<typeof HTTPHeader>;

export const HTTPGetAction = message("HTTPGetAction", "A request to the container.", {
  path: optional(1, string, "Path to ask for.", hiddenDefault("/")),
  port: embedded(2, intOrString, "Number or name of the port.", { published: "required" }),
  host: optional(3, string, "Host to connect to; the pod itself when empty."),
  scheme: optional(4, named("URIScheme", string), "HTTP or HTTPS.", {
    ...openEnum("HTTP", "HTTPS"),
    ...hiddenDefault("HTTP"),
  }),
  httpHeaders: optional(5, list(HTTPHeader), "Headers to send along."),
});
export type HTTPGetAction = TypeOf<typeof HTTPGetAction>;

export const TCPSocketAction = message("TCPSocketAction", "A connection to the container.", {
  port: embedded(1, intOrString, "Number or name of the port.", { published: "required" }),
  host: optional(2, string, "Host to connect to; the pod itself when empty."),
});
export type TCPSocketAction = TypeOf<typeof TCPSocketAction>;

export const GRPCAction = message("GRPCAction", "A health check in the gRPC protocol.", {
  port: required(1, int32, "Number of the port."),
  service: required(2, string, "Service name put into the check.", {
    default: "",
    nullable: true,
    published: "optional",
  }),
});
export type GRPCAction = TypeOf<typeof GRPCAction>;

export const ExecAction = message("ExecAction", "A command in the container.", {
  command: optional(1, list(string), "The command and its arguments, run without a shell."),
});
export type ExecAction = TypeOf<typeof ExecAction>;

export const ProbeHandler = message("ProbeHandler", "How to ask; exactly one is set.", {
  exec: optional(1, ExecAction, "By running a command; exit code 0 is good."),
  httpGet: optional(2, HTTPGetAction, "By an HTTP request; 200 to 399 is good."),
  tcpSocket: optional(3, TCPSocketAction, "By connecting."),
  grpc: optional(4, GRPCAction, "By a gRPC health check."),
});
export type ProbeHandler = TypeOf<typeof ProbeHandler>;

export const Probe = message("Probe", "A question asked again and again.", {
  probeHandler: inline(1, ProbeHandler),
  initialDelaySeconds: optional(2, int32, "Seconds after the start before the first question."),
  timeoutSeconds: optional(3, int32, "Seconds to wait for an answer.", hiddenDefault(1)),
  periodSeconds: optional(4, int32, "Seconds between questions.", hiddenDefault(10)),
  successThreshold: optional(5, int32, "Good answers in a row before it counts as good.", hiddenDefault(1)),
  failureThreshold: optional(6, int32, "Bad answers in a row before it counts as bad.", hiddenDefault(3)),
  terminationGracePeriodSeconds: pointer(
    7,
    int64,
    "Grace for the stop that a failure causes; the pod's own when unset.",
  ),
});
export type Probe = TypeOf<typeof Probe>;

export const SleepAction = message("SleepAction", "A pause.", {
  seconds: required(1, int64, "How long it lasts."),
});
export type SleepAction = TypeOf<typeof SleepAction>;

export const LifecycleHandler = message(
  "LifecycleHandler",
  "What to do at a turn of a container's life; exactly one is set.",
  {
    exec: optional(1, ExecAction, "Run a command in it."),
    httpGet: optional(2, HTTPGetAction, "Send it an HTTP request."),
    tcpSocket: optional(3, TCPSocketAction, "Not supported; kept for old objects."),
    sleep: optional(4, SleepAction, "Wait for some seconds.", gated("PodLifecycleSleepAction")),
  },
);
export type LifecycleHandler = TypeOf<typeof LifecycleHandler>;

export const Lifecycle = message("Lifecycle", "What to do when a container starts and stops.", {
  postStart: optional(1, LifecycleHandler, "Right after it was created; a failure ends it."),
  preStop: optional(2, LifecycleHandler, "Before it is told to stop, within the grace period."),
});
export type Lifecycle = TypeOf<typeof Lifecycle>;
