// Options of requests to a running pod, service or node, read from the query.
import { type TypeOf, bool, int32, int64, list, optional, pointer, required, string, time } from "#schema";
import { core } from "../packages.ts";

const { kind } = core;

export const PodLogOptions = kind("PodLogOptions", "Query options of a request for the log of a container.", {
  container: optional(1, string, "Name of the container; may be omitted if the pod has only one."),
  follow: optional(2, bool, "Whether to keep streaming new log lines; defaults to false."),
  previous: optional(
    3,
    bool,
    "Whether to return the log of the previous, terminated instance of the container.",
  ),
  sinceSeconds: pointer(4, int64, "Return only lines written within this number of seconds before now."),
  sinceTime: pointer(5, time, "Return only lines written at or after this time."),
  timestamps: optional(6, bool, "Whether to prefix each line with an RFC3339 timestamp."),
  tailLines: pointer(7, int64, "Number of lines to return from the end of the log; all lines if unset."),
  limitBytes: pointer(8, int64, "Maximum number of bytes to return."),
  insecureSkipTLSVerifyBackend: optional(
    9,
    bool,
    "Whether to skip verification of the serving certificate of the node.",
  ),
});
export type PodLogOptions = TypeOf<typeof PodLogOptions>;

export const PodAttachOptions = kind(
  "PodAttachOptions",
  "Query options of attaching to a running container.",
  {
    stdin: optional(1, bool, "Whether to redirect the standard input of the stream to the container."),
    stdout: optional(2, bool, "Whether to redirect the standard output of the container to the stream."),
    stderr: optional(3, bool, "Whether to redirect the standard error of the container to the stream."),
    tty: optional(4, bool, "Whether to attach a terminal (TTY)."),
    container: optional(5, string, "Name of the container; may be omitted if the pod has only one."),
  },
);
export type PodAttachOptions = TypeOf<typeof PodAttachOptions>;

export const PodExecOptions = kind("PodExecOptions", "Query options of executing a command in a container.", {
  stdin: optional(1, bool, "Whether to redirect the standard input of the stream to the container."),
  stdout: optional(2, bool, "Whether to redirect the standard output of the container to the stream."),
  stderr: optional(3, bool, "Whether to redirect the standard error of the container to the stream."),
  tty: optional(4, bool, "Whether to allocate a terminal (TTY) for the command."),
  container: optional(5, string, "Name of the container; may be omitted if the pod has only one."),
  command: required(6, list(string), "Command and its arguments; not executed in a shell."),
});
export type PodExecOptions = TypeOf<typeof PodExecOptions>;

export const PodPortForwardOptions = kind(
  "PodPortForwardOptions",
  "Query options of port forwarding to a pod.",
  {
    ports: optional(1, list(int32), "Ports to forward; required for WebSocket clients."),
  },
);
export type PodPortForwardOptions = TypeOf<typeof PodPortForwardOptions>;

export const PodProxyOptions = kind("PodProxyOptions", "Query options of a proxied request to a pod.", {
  path: optional(1, string, "URL path of the request to the pod."),
});
export type PodProxyOptions = TypeOf<typeof PodProxyOptions>;

export const NodeProxyOptions = kind("NodeProxyOptions", "Query options of a proxied request to a node.", {
  path: optional(1, string, "URL path of the request to the node."),
});
export type NodeProxyOptions = TypeOf<typeof NodeProxyOptions>;

export const ServiceProxyOptions = kind(
  "ServiceProxyOptions",
  "Query options of a proxied request to a service.",
  {
    path: optional(1, string, "URL path of the request to the service, including the endpoint to use."),
  },
);
export type ServiceProxyOptions = TypeOf<typeof ServiceProxyOptions>;
