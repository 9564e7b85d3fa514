// Ingresses, which expose services by host and path, and ingress classes.
import {
  type HTTPIngressPath,
  Ingress,
  type IngressBackend,
  IngressClass,
  type IngressSpec,
  type IngressTLS,
} from "#api";
import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from "#base";
import type { Dialect } from "#dialect";
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  domainPathErrors,
  portNameProblems,
  wildcardSubdomainProblems,
} from "#schema";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { statusPart } from "./parts.ts";
import { parseIp } from "./rules/address.ts";
import { formatErrors, pathSegmentProblems, portErrors } from "./rules/format.ts";
import { supported } from "./rules/one-of.ts";
import { goTexts } from "./rules/go-syntax.ts";
import { unchanged } from "./rules/unchanged.ts";
import { balancerStatusErrors } from "./service-rules.ts";

const hostErrors = (host: string, field: string): FieldError[] =>
  formatErrors(host, field, host.includes("*") ? wildcardSubdomainProblems : dns1123SubdomainProblems);

function specErrors(spec: IngressSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (!spec.rules?.length && !spec.defaultBackend)
    errors.push(
      invalidValue(
        "spec",
        goTexts("networking.IngressRule", spec.rules && []),
        "either `defaultBackend` or `rules` must be specified",
      ),
    );
  if (spec.defaultBackend) errors.push(...backendErrors(spec.defaultBackend, "spec.defaultBackend"));
  spec.rules?.forEach(({ host, http }, position) => {
    const at = `spec.rules[${position}]`;
    if (host && parseIp(host))
      errors.push(invalidValue(`${at}.host`, host, "must be a DNS name, not an IP address"));
    if (host) errors.push(...hostErrors(host, `${at}.host`));
    if (!http) return;
    if (!http.paths?.length) errors.push(required(`${at}.http.paths`));
    http.paths?.forEach((path, index) => errors.push(...pathErrors(path, `${at}.http.paths[${index}]`)));
  });
  errors.push(...tlsErrors(spec.tls ?? []));
  if (spec.ingressClassName !== undefined)
    errors.push(...formatErrors(spec.ingressClassName, "spec.ingressClassName", dns1123SubdomainProblems));
  return errors;
}

const tlsErrors = (entries: readonly IngressTLS[]): FieldError[] =>
  entries.flatMap(({ hosts, secretName }, position) => {
    const at = `spec.tls[${position}]`;
    const errors = (hosts ?? []).flatMap((host, index) => hostErrors(host, `${at}.hosts[${index}]`));
    return secretName
      ? [...errors, ...formatErrors(secretName, `${at}.secretName`, dns1123SubdomainProblems)]
      : errors;
  });

const badSequences = ["//", "/./", "/../", "%2f", "%2F"];
const badEnds = ["/..", "/."];

function pathErrors({ path = "", pathType, backend }: HTTPIngressPath, at: string): FieldError[] {
  if (pathType === undefined || pathType === null)
    return [required(`${at}.pathType`, "pathType must be specified")];
  const errors: FieldError[] = [];
  const wrong = (detail: string): FieldError => invalidValue(`${at}.path`, path, detail);
  const exact = pathType === "Exact" || pathType === "Prefix";
  if (!exact && pathType !== "ImplementationSpecific")
    errors.push(notSupported(`${at}.pathType`, pathType, ["Exact", "ImplementationSpecific", "Prefix"]));
  else if (!path.startsWith("/") && (exact || path !== "")) errors.push(wrong("must be an absolute path"));
  if (exact) {
    for (const sequence of badSequences)
      if (path.includes(sequence)) errors.push(wrong(`must not contain '${sequence}'`));
    for (const end of badEnds) if (path.endsWith(end)) errors.push(wrong(`cannot end with '${end}'`));
  }
  return [...errors, ...backendErrors(backend, `${at}.backend`)];
}

function backendErrors({ resource, service }: IngressBackend, at: string): FieldError[] {
  if (resource && service) return [invalidValue(at, "", "cannot set both resource and service backends")];
  if (resource) return referenceErrors(resource, `${at}.resource`);
  if (!service) return [invalidValue(at, "", "resource or service backend is required")];
  const errors = service.name
    ? formatErrors(service.name, `${at}.service.name`, dns1035LabelProblems)
    : [required(`${at}.service.name`)];
  const { name, number } = service.port;
  if (name && number) errors.push(invalidValue(at, "", "cannot set both port name & port number"));
  else if (name) errors.push(...formatErrors(name, `${at}.service.port.name`, portNameProblems));
  else if (number) errors.push(...portErrors(number, `${at}.service.port.number`));
  else errors.push(required(at, "port name or number is required"));
  return errors;
}

function referenceErrors(
  {
    apiGroup,
    kind,
    name,
  }: { readonly apiGroup?: string | null | undefined; readonly kind: string; readonly name: string },
  at: string,
): FieldError[] {
  const errors =
    apiGroup === undefined || apiGroup === null
      ? []
      : formatErrors(apiGroup, `${at}.apiGroup`, dns1123SubdomainProblems);
  errors.push(
    ...(kind
      ? formatErrors(kind, `${at}.kind`, pathSegmentProblems)
      : [required(`${at}.kind`, "kind is required")]),
  );
  return [
    ...errors,
    ...(name
      ? formatErrors(name, `${at}.name`, pathSegmentProblems)
      : [required(`${at}.name`, "name is required")]),
  ];
}

const classAnnotation = ({ metadata }: Ingress, { names }: Dialect): string | undefined =>
  metadata.annotations?.[names.annotations.ingressClass];

const shownHosts = 3;

/** Formats the first few hosts; a star if there are only rules without a host. */
function hostsText({ spec }: Ingress): string {
  const hosts = (spec.rules ?? []).map(({ host }) => host).filter((host): host is string => Boolean(host));
  if (hosts.length === 0) return "*";
  const shown = hosts.slice(0, shownHosts).join(",");
  return hosts.length >= shownHosts && spec.rules!.length > shownHosts
    ? `${shown} + ${spec.rules!.length - shownHosts} more...`
    : shown;
}

const addressText = ({ status }: Ingress): string =>
  [
    ...new Set(
      (status.loadBalancer.ingress ?? [])
        .map(({ ip, hostname }) => ip || hostname || "")
        .filter((way) => way !== ""),
    ),
  ]
    .toSorted()
    .join(",");

export const ingress = strategy<Ingress>({
  resource: "ingresses",
  singular: "ingress",
  shortNames: ["ing"],
  scope: "Namespaced",
  hub: Ingress,
  metaChecks: { asNew: 1 },
  storagePath: "ingress",
  generation: true,
  status: "cleared",
  prepareForCreate: (obj) => {
    obj.status = { loadBalancer: {} };
  },
  validate: (obj, { dialect }) => {
    const annotatedClass = classAnnotation(obj, dialect);
    const contradicts =
      annotatedClass !== undefined &&
      obj.spec.ingressClassName !== undefined &&
      annotatedClass !== obj.spec.ingressClassName;
    return [
      ...specErrors(obj.spec),
      ...(contradicts
        ? [
            invalidValue(
              `annotations.${dialect.names.annotations.ingressClass}`,
              annotatedClass,
              "must match `ingressClassName` when both are specified",
            ),
          ]
        : []),
    ];
  },
  validateUpdate: ({ spec }) => specErrors(spec),
  warnings: (obj, old, { dialect }) => {
    const outdated =
      !old && classAnnotation(obj, dialect) !== undefined && obj.spec.ingressClassName === undefined;
    return outdated
      ? [
          `annotation "${dialect.names.annotations.ingressClass}" is deprecated, please use 'spec.ingressClassName' instead`,
        ]
      : [];
  },
  subresources: {
    status: statusPart(({ status }) => balancerStatusErrors(status.loadBalancer, "status.loadBalancer")),
  },
  columns: [
    nameColumn,
    {
      name: "Class",
      type: "string",
      doc: "Ingress class that implements it.",
      cell: ({ spec }: Ingress) => spec.ingressClassName ?? "<none>",
    },
    { name: "Hosts", type: "string", doc: "Host names that are routed.", cell: hostsText },
    { name: "Address", type: "string", doc: "Addresses of the load balancer.", cell: addressText },
    {
      name: "Ports",
      type: "string",
      doc: "Ports served by the ingress.",
      cell: ({ spec }: Ingress) => (spec.tls?.length ? "80, 443" : "80"),
    },
    ageColumn,
  ],
});

const maxControllerLength = 250;

function controllerErrors(controller: string, field: string): FieldError[] {
  const errors =
    controller.length > maxControllerLength ? [tooLong(field, controller, maxControllerLength)] : [];
  return [...errors, ...domainPathErrors(controller, field)];
}

function classErrors({ spec }: IngressClass): FieldError[] {
  const errors = controllerErrors(spec.controller ?? "", "spec.controller");
  const given = spec.parameters;
  if (!given) return errors;
  const at = "spec.parameters";
  errors.push(...referenceErrors(given, at));
  if (given.scope === undefined) return [...errors, required(`${at}.scope`)];
  errors.push(...supported(given.scope, `${at}.scope`, ["Cluster", "Namespace"]));
  if (given.scope === "Namespace")
    errors.push(
      ...(given.namespace === undefined
        ? [required(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'")]
        : formatErrors(given.namespace, `${at}.namespace`, dns1123LabelProblems)),
    );
  if (given.scope === "Cluster" && given.namespace !== undefined)
    errors.push(forbiddenField(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'"));
  return errors;
}

function parametersText({ spec }: IngressClass): string {
  const given = spec.parameters;
  return given
    ? `${given.kind}${(given.apiGroup ?? undefined) === undefined ? "" : `.${given.apiGroup}`}/${given.name}`
    : "<none>";
}

export const ingressClass = strategy<IngressClass>({
  resource: "ingressclasses",
  singular: "ingressclass",
  scope: "Cluster",
  hub: IngressClass,
  metaChecks: { asNew: 1 },
  generation: true,
  defaults: ({ spec }) => {
    if (spec.parameters) spec.parameters.scope ??= "Cluster";
  },
  validate: classErrors,
  validateUpdate: (obj, old) => [
    ...unchanged(obj.spec.controller ?? "", old.spec.controller, "spec.controller"),
    ...classErrors(obj),
  ],
  columns: [
    nameColumn,
    {
      name: "Controller",
      type: "string",
      doc: "Controller that handles ingresses of this class.",
      cell: ({ spec }: IngressClass) => spec.controller ?? "",
    },
    { name: "Parameters", type: "string", doc: "Reference to additional parameters.", cell: parametersText },
    ageColumn,
  ],
});
