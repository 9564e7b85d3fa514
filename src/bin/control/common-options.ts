// Settings common to all programs that are clients of the API server.
import type { Dialect } from "#dialect";
import {
  between,
  dialectOption,
  file,
  gatesOption,
  helpOption,
  int,
  ip,
  logOptions,
  option,
  section,
  verbosityOption,
  versionOption,
} from "#options";

export const connection = section("Connection", [
  option({
    flag: "orchconfig",
    type: file,
    default: "",
    doc: "Client configuration file with the server and credentials.",
  }),
]);

export const serving = section("Serving", [
  option({
    flag: "bind-address",
    type: ip,
    default: "127.0.0.1",
    doc: "Address to serve /healthz and /metrics on.",
  }),
  option({
    flag: "port",
    type: int,
    default: 0,
    check: between(0, 65535),
    doc: "Port to serve /healthz and /metrics on, over plain HTTP and without authentication; 0 disables it.",
  }),
]);

/** The feature gates that affect the serving port. */
export const servingGates: readonly string[] = ["ComponentSLIs"];

export const features = (dialect: Dialect) =>
  section("Features and logging", [gatesOption(dialect), ...logOptions]);

export const other = (dialect: Dialect) =>
  section("Other", [dialectOption(dialect), verbosityOption({}), versionOption, helpOption]);
