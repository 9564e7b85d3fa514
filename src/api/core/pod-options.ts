// Options of requests to a running pod, service or node, read from the query.
import { type TypeOf, bool, int32, int64, list, optional, pointer, required, string, time } from "#schema";
import { core } from "../packages.ts";

const { kind } = core;

export const PodLogOptions = kind("PodLogOptions", "Options of reading a log.", {
  container: optional(1, string, "Which container; needed when there are several."),
  follow: optional(2, bool, "Goes on with what is written later."),
  previous: optional(3, bool, "Reads the run before this one."),
  sinceSeconds: pointer(4, int64, "Only lines of the last seconds."),
  sinceTime: pointer(5, time, "Only lines after this time."),
  timestamps: optional(6, bool, "Puts the time before every line."),
  tailLines: pointer(7, int64, "Only the last lines."),
  limitBytes: pointer(8, int64, "Ends after so many bytes."),
  insecureSkipTLSVerifyBackend: optional(9, bool, "Trusts the node without checking its certificate."),
});
export type PodLogOptions = TypeOf<typeof PodLogOptions>;

export const PodAttachOptions = kind("PodAttachOptions", "Options of attaching to a running container.", {
  stdin: optional(1, bool, "Connects the standard input."),
  stdout: optional(2, bool, "Connects the standard output."),
  stderr: optional(3, bool, "Connects the error output."),
  tty: optional(4, bool, "Connects a terminal."),
  container: optional(5, string, "Which container; needed when there are several."),
});
export type PodAttachOptions = TypeOf<typeof PodAttachOptions>;

export const PodExecOptions = kind("PodExecOptions", "Options of running a command in a container.", {
  stdin: optional(1, bool, "Connects the standard input."),
  stdout: optional(2, bool, "Connects the standard output."),
  stderr: optional(3, bool, "Connects the error output."),
  tty: optional(4, bool, "Runs it in a terminal."),
  container: optional(5, string, "Which container; needed when there are several."),
  command: required(6, list(string), "The command and its arguments, run without a shell."),
});
export type PodExecOptions = TypeOf<typeof PodExecOptions>;

export const PodPortForwardOptions = kind("PodPortForwardOptions", "Options of forwarding ports.", {
  ports: optional(1, list(int32), "Ports to forward; for WebSocket clients."),
});
export type PodPortForwardOptions = TypeOf<typeof PodPortForwardOptions>;

export const PodProxyOptions = kind("PodProxyOptions", "Options of a request to a pod.", {
  path: optional(1, string, "Path to ask the pod for."),
});
export type PodProxyOptions = TypeOf<typeof PodProxyOptions>;

export const NodeProxyOptions = kind("NodeProxyOptions", "Options of a request to a node.", {
  path: optional(1, string, "Path to ask the node for."),
});
export type NodeProxyOptions = TypeOf<typeof NodeProxyOptions>;

export const ServiceProxyOptions = kind("ServiceProxyOptions", "Options of a request to a service.", {
  path: optional(1, string, "Path to ask the service for."),
});
export type ServiceProxyOptions = TypeOf<typeof ServiceProxyOptions>;
