// Validation of Windows options, and of fields that the pod's operating system does not support.
import type { Container, PodSpec, WindowsSecurityContextOptions } from "#api";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "#base";
import { dns1123SubdomainProblems } from "#schema";
import { formatErrors } from "../rules/format.ts";
import { everyContainer } from "./every-container.ts";

const maxCredentialSpecBytes = 64 * 1024;
const maxDomainLength = 256;
const maxUserLength = 104;
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const dnsName = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`);
const systems = ["linux", "windows"];

export function windowsOptionErrors(
  options: WindowsSecurityContextOptions | undefined,
  path: string,
): FieldError[] {
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options ?? {};
  const errors =
    gmsaCredentialSpecName === undefined
      ? []
      : formatErrors(gmsaCredentialSpecName, `${path}.gmsaCredentialSpecName`, dns1123SubdomainProblems);
  if (gmsaCredentialSpec === "")
    errors.push(
      invalidValue(`${path}.gmsaCredentialSpec`, "", "gmsaCredentialSpec cannot be an empty string"),
    );
  else if (Buffer.byteLength(gmsaCredentialSpec ?? "") > maxCredentialSpecBytes)
    errors.push(
      invalidValue(
        `${path}.gmsaCredentialSpec`,
        gmsaCredentialSpec,
        "gmsaCredentialSpec size must be under 64 KiB",
      ),
    );
  return runAsUserName === undefined
    ? errors
    : [...errors, ...formatErrors(runAsUserName, `${path}.runAsUserName`, userNameProblems)];
}

function userNameProblems(name: string): string[] {
  if (name === "") return ["runAsUserName cannot be an empty string"];
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(name)) return ["runAsUserName cannot contain control characters"];
  const parts = name.split("\\");
  if (parts.length > 2) return ["runAsUserName cannot contain more than one backslash"];
  const user = parts.at(-1)!;
  const domain = parts.length === 2 ? parts[0]! : undefined;
  const found: string[] = [];
  if ((domain ?? "").length >= maxDomainLength)
    found.push(`runAsUserName's Domain length must be under ${maxDomainLength} characters`);
  if (domain !== undefined && !netBios.test(domain) && !dnsName.test(domain))
    found.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  if (user === "") found.push("runAsUserName's User cannot be empty");
  else if (user.length > maxUserLength)
    found.push(`runAsUserName's User length must not be longer than ${maxUserLength} characters`);
  if (/^[. ]+$/.test(user)) found.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    found.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  return found;
}

/** Validates host process containers: all containers of a pod or none, and only in the host network. */
export function hostProcessErrors(spec: PodSpec, allowPrivileged: boolean, path: string): FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const errors: FieldError[] = [];
  let [all, hosted] = [0, 0];
  for (const { container, at } of everyContainer(spec, path)) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own)
      errors.push(
        invalidValue(
          `${at}.securityContext.windowsOptions.hostProcess`,
          own,
          `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
        ),
      );
    all++;
    if (own ?? ofPod) hosted++;
  }
  if (hosted === 0) return errors;
  if (hosted !== all)
    errors.push(
      invalidValue(
        path,
        "",
        "If pod contains any hostProcess containers then all containers must be HostProcess containers",
      ),
    );
  if (!spec.hostNetwork)
    errors.push(
      invalidValue(
        `${path}.hostNetwork`,
        false,
        "hostNetwork must be true if pod contains any hostProcess containers",
      ),
    );
  if (!allowPrivileged)
    errors.push(forbiddenField(path, "hostProcess containers are disallowed by cluster policy"));
  return errors;
}

export function operatingSystemErrors(spec: PodSpec, path: string): FieldError[] {
  if (!spec.os) return [];
  const { name } = spec.os;
  if (!name) return [required(`${path}.os.name`, "cannot be empty")];
  if (!systems.includes(name)) return [notSupported(`${path}.os`, name, systems)];
  return name === "linux" ? linuxErrors(spec, path) : windowsErrors(spec, path);
}

function linuxErrors(spec: PodSpec, path: string): FieldError[] {
  const why = "windows options cannot be set for a linux pod";
  const errors = spec.securityContext?.windowsOptions
    ? [forbiddenField(`${path}.securityContext.windowsOptions`, why)]
    : [];
  for (const { container, at } of everyContainer(spec, path))
    if (container.securityContext?.windowsOptions)
      errors.push(forbiddenField(`${at}.securityContext.windowsOptions`, why));
  return errors;
}

const podOnly = [
  "seLinuxOptions",
  "seccompProfile",
  "appArmorProfile",
  "fsGroup",
  "fsGroupChangePolicy",
  "sysctls",
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
] as const;
const specOnly = ["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"] as const;
const containerOnly: readonly (keyof NonNullable<Container["securityContext"]>)[] = [
  "seLinuxOptions",
  "seccompProfile",
  "appArmorProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];

function windowsErrors(spec: PodSpec, path: string): FieldError[] {
  const refused = (field: string): FieldError => forbiddenField(field, "cannot be set for a windows pod");
  const given = (holder: object | undefined, key: string): boolean => {
    const value = (holder as Record<string, unknown> | undefined)?.[key];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
  };
  const errors = podOnly
    .filter((key) => given(spec.securityContext, key))
    .map((key) => refused(`${path}.securityContext.${key}`));
  errors.push(
    ...specOnly
      .filter((key) => (key === "hostPID" || key === "hostIPC" ? spec[key] : given(spec, key)))
      .map((key) => refused(`${path}.${key}`)),
  );
  for (const { container, at } of everyContainer(spec, path)) {
    errors.push(
      ...containerOnly
        .filter((key) => given(container.securityContext, key))
        .map((key) => refused(`${at}.securityContext.${key}`)),
    );
  }
  return errors;
}
