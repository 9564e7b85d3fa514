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

export const HTTPHeader = message("HTTPHeader", "An HTTP header sent by a probe.", {
  name: required(1, string, "Name of the header; canonicalized when sent."),
  value: required(2, string, "Value of the header."),
});
export type HTTPHeader = TypeOf<typeof HTTPHeader>;

export const HTTPGetAction = message("HTTPGetAction", "Action that sends an HTTP GET request.", {
  path: optional(1, string, "Path of the request; defaults to /.", hiddenDefault("/")),
  port: embedded(2, intOrString, "Port number or name of a container port to access.", {
    published: "required",
  }),
  host: optional(3, string, "Host to connect to; defaults to the pod's IP address."),
  scheme: optional(4, named("URIScheme", string), "Scheme of the request: HTTP (default) or HTTPS.", {
    ...openEnum("HTTP", "HTTPS"),
    ...hiddenDefault("HTTP"),
  }),
  httpHeaders: optional(5, list(HTTPHeader), "Custom headers of the request."),
});
export type HTTPGetAction = TypeOf<typeof HTTPGetAction>;

export const TCPSocketAction = message("TCPSocketAction", "Action that opens a TCP connection.", {
  port: embedded(1, intOrString, "Port number or name of a container port to access.", {
    published: "required",
  }),
  host: optional(2, string, "Host to connect to; defaults to the pod's IP address."),
});
export type TCPSocketAction = TypeOf<typeof TCPSocketAction>;

export const GRPCAction = message("GRPCAction", "Action that calls the gRPC health checking service.", {
  port: required(1, int32, "Port number of the gRPC service."),
  service: required(2, string, "Service name sent in the health check request; empty by default.", {
    default: "",
    nullable: true,
    published: "optional",
  }),
});
export type GRPCAction = TypeOf<typeof GRPCAction>;

export const ExecAction = message("ExecAction", "Action that executes a command in the container.", {
  command: optional(1, list(string), "Command and its arguments; not executed in a shell."),
});
export type ExecAction = TypeOf<typeof ExecAction>;

export const ProbeHandler = message("ProbeHandler", "Action taken by a probe; exactly one member is set.", {
  exec: optional(1, ExecAction, "Command to execute; exit code 0 means success."),
  httpGet: optional(
    2,
    HTTPGetAction,
    "HTTP GET request to send; a response status from 200 to 399 means success.",
  ),
  tcpSocket: optional(3, TCPSocketAction, "TCP port to connect to; an established connection means success."),
  grpc: optional(4, GRPCAction, "gRPC health check to call; the response SERVING means success."),
});
export type ProbeHandler = TypeOf<typeof ProbeHandler>;

export const Probe = message("Probe", "A periodic health check of a container.", {
  probeHandler: inline(1, ProbeHandler),
  initialDelaySeconds: optional(
    2,
    int32,
    "Seconds after the start of the container before probes are initiated.",
  ),
  timeoutSeconds: optional(
    3,
    int32,
    "Seconds after which a probe times out; defaults to 1.",
    hiddenDefault(1),
  ),
  periodSeconds: optional(4, int32, "Seconds between probes; defaults to 10.", hiddenDefault(10)),
  successThreshold: optional(
    5,
    int32,
    "Consecutive successes for the probe to pass after a failure; defaults to 1, required for " +
      "liveness and startup.",
    hiddenDefault(1),
  ),
  failureThreshold: optional(
    6,
    int32,
    "Consecutive failures for the probe to be considered failed; defaults to 3.",
    hiddenDefault(3),
  ),
  terminationGracePeriodSeconds: pointer(
    7,
    int64,
    "Grace period in seconds when a probe failure terminates the container; defaults to that of the pod.",
  ),
});
export type Probe = TypeOf<typeof Probe>;

export const SleepAction = message("SleepAction", "Action that sleeps.", {
  seconds: required(1, int64, "Number of seconds to sleep."),
});
export type SleepAction = TypeOf<typeof SleepAction>;

export const LifecycleHandler = message(
  "LifecycleHandler",
  "Action taken by a lifecycle hook; exactly one member is set.",
  {
    exec: optional(1, ExecAction, "Command to execute in the container."),
    httpGet: optional(2, HTTPGetAction, "HTTP GET request to send to the container."),
    tcpSocket: optional(
      3,
      TCPSocketAction,
      "Not supported as a lifecycle hook; kept for backward compatibility.",
    ),
    sleep: optional(4, SleepAction, "Duration to sleep.", gated("PodLifecycleSleepAction")),
  },
);
export type LifecycleHandler = TypeOf<typeof LifecycleHandler>;

export const Lifecycle = message("Lifecycle", "Lifecycle hooks of a container.", {
  postStart: optional(
    1,
    LifecycleHandler,
    "Hook called right after the container is created; if it fails, the container is terminated.",
  ),
  preStop: optional(
    2,
    LifecycleHandler,
    "Hook called before the container is terminated; the grace period of the pod runs meanwhile.",
  ),
});
export type Lifecycle = TypeOf<typeof Lifecycle>;
