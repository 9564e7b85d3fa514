// Validation of probes and lifecycle handlers.
import type {
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Lifecycle,
  Probe,
  SleepAction,
  TCPSocketAction,
} from "#api";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "#base";
import { headerNameProblems, portNameProblems } from "#schema";
import { formatErrors, portErrors } from "../rules/format.ts";
import { notNegative } from "../rules/numbers.ts";

interface Handler {
  readonly exec?: ExecAction | undefined;
  readonly httpGet?: HTTPGetAction | undefined;
  readonly tcpSocket?: TCPSocketAction | undefined;
  readonly grpc?: GRPCAction | undefined;
  readonly sleep?: SleepAction | undefined;
}

const schemes = ["HTTP", "HTTPS"];
const counters = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

export function probeErrors(probe: Probe | undefined, path: string): FieldError[] {
  if (!probe) return [];
  const { terminationGracePeriodSeconds: grace } = probe;
  const errors = [
    ...handlerErrors(probe, path),
    ...counters.flatMap((key) => notNegative(probe[key], `${path}.${key}`)),
  ];
  if (grace !== undefined && grace <= 0)
    errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, grace, "must be greater than 0"));
  return errors;
}

/** Validates that the success threshold of a liveness or startup probe is 1. */
export const oneSuccess = (probe: Probe | undefined, path: string): FieldError[] =>
  probe && probe.successThreshold !== 1
    ? [invalidValue(`${path}.successThreshold`, probe.successThreshold ?? 0, "must be 1")]
    : [];

/** Limits of the durations for which hooks sleep. */
interface SleepLimits {
  readonly graceSeconds: number;
  readonly zeroSleeps: boolean;
}

export const lifecycleErrors = (
  { postStart, preStop }: Lifecycle,
  limits: SleepLimits,
  path: string,
): FieldError[] => [
  ...(postStart ? handlerErrors(postStart, `${path}.postStart`, limits) : []),
  ...(preStop ? handlerErrors(preStop, `${path}.preStop`, limits) : []),
];

function handlerErrors(
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  path: string,
  limits: SleepLimits = { graceSeconds: 0, zeroSleeps: false },
): FieldError[] {
  const found = [
    exec && ["exec", (at: string) => (exec.command?.length ? [] : [required(`${at}.command`)])],
    httpGet && ["httpGet", (at: string) => httpErrors(httpGet, at)],
    tcpSocket && ["tcpSocket", (at: string) => portOrNameErrors(tcpSocket.port, `${at}.port`)],
    grpc && ["grpc", (at: string) => portErrors(grpc.port, `${at}.port`)],
    sleep && ["sleep", (at: string) => sleepErrors(sleep, limits, at)],
  ].filter((each) => each !== undefined) as [name: string, check: (at: string) => FieldError[]][];
  if (found.length === 0) return [required(path, "must specify a handler type")];
  return found.flatMap(([name, check], position) =>
    position === 0
      ? check(`${path}.${name}`)
      : [forbiddenField(`${path}.${name}`, "may not specify more than 1 handler type")],
  );
}

function httpErrors({ path, port, scheme, httpHeaders }: HTTPGetAction, at: string): FieldError[] {
  const errors = path ? [] : [required(`${at}.path`)];
  errors.push(...portOrNameErrors(port, `${at}.port`));
  if (!schemes.includes(scheme ?? "")) errors.push(notSupported(`${at}.scheme`, scheme ?? "", schemes));
  return [
    ...errors,
    ...(httpHeaders ?? []).flatMap(({ name }) => formatErrors(name, `${at}.httpHeaders`, headerNameProblems)),
  ];
}

function sleepErrors(
  { seconds }: SleepAction,
  { graceSeconds, zeroSleeps }: SleepLimits,
  at: string,
): FieldError[] {
  if ((zeroSleeps ? seconds >= 0 : seconds > 0) && seconds <= graceSeconds) return [];
  const least = zeroSleeps ? "non-negative" : "greater than 0";
  const detail = `must be ${least} and less than terminationGracePeriodSeconds (${graceSeconds})`;
  return [invalidValue(at, seconds, detail)];
}

export const portOrNameErrors = (port: number | string, field: string): FieldError[] =>
  typeof port === "number" ? portErrors(port, field) : formatErrors(port, field, portNameProblems);
