// Paths without the generic verbs: resources that are only created, connections, and logs.
import {
  Binding,
  ComponentStatus,
  Eviction,
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectReviewV1alpha1,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  TokenRequest,
  TokenReview,
  listOf,
} from "#api";
import type { Dialect } from "#dialect";
import { type Message, publishedKind } from "#schema";
import type { GroupVersion, VirtualResource } from "../catalog.ts";
import {
  type Operation,
  type Parameter,
  type PathItem,
  capital,
  idPart,
  listing,
  media,
  nameOf,
  namespace,
  pretty,
  query,
  rootOf,
  streams,
  tagOf,
  writing,
} from "./operations.ts";

/** The request and response body of each path; prefixed with a version if the path has different meanings. */
const created: Readonly<Record<string, Message>> = {
  bindings: Binding,
  "pods/binding": Binding,
  "pods/eviction": Eviction,
  "serviceaccounts/token": TokenRequest,
  tokenreviews: TokenReview,
  localsubjectaccessreviews: LocalSubjectAccessReview,
  selfsubjectaccessreviews: SelfSubjectAccessReview,
  selfsubjectreviews: SelfSubjectReview,
  "v1alpha1/selfsubjectreviews": SelfSubjectReviewV1alpha1,
  selfsubjectrulesreviews: SelfSubjectRulesReview,
  subjectaccessreviews: SubjectAccessReview,
};

const container = query(
  "container",
  "string",
  "Which container; the only one, or the one marked as default, when left out.",
);
const attached: readonly Parameter[] = [
  container,
  query("stderr", "boolean", "Whether errors are sent."),
  query("stdin", "boolean", "Whether input is taken."),
  query("stdout", "boolean", "Whether output is sent."),
  query("tty", "boolean", "Whether there is a terminal."),
];
const onward = query("path", "string", "Where the request goes behind the object.");
const streamed = ["get", "post"] as const;
const everyMethod = ["get", "put", "post", "delete", "options", "head", "patch"] as const;

interface Connection {
  readonly kind: string;
  readonly methods: readonly Operation["method"][];
  readonly parameters: readonly Parameter[];
}

const connections: Readonly<Record<string, Connection>> = {
  "pods/attach": { kind: "PodAttachOptions", methods: streamed, parameters: attached },
  "pods/exec": {
    kind: "PodExecOptions",
    methods: streamed,
    parameters: [...attached, query("command", "string", "The command and its arguments, one by one.")],
  },
  "pods/portforward": {
    kind: "PodPortForwardOptions",
    methods: streamed,
    parameters: [query("ports", "integer", "Which ports.")],
  },
  "pods/proxy": { kind: "PodProxyOptions", methods: everyMethod, parameters: [onward] },
  "services/proxy": { kind: "ServiceProxyOptions", methods: everyMethod, parameters: [onward] },
  "nodes/proxy": { kind: "NodeProxyOptions", methods: everyMethod, parameters: [onward] },
};

const logged: readonly Parameter[] = [
  container,
  query("follow", "boolean", "Whether to go on with what is written later."),
  query("insecureSkipTLSVerifyBackend", "boolean", "Whether the node's certificate is taken unseen."),
  query("limitBytes", "integer", "How many bytes at the most."),
  query("previous", "boolean", "The container before this one."),
  query("sinceSeconds", "integer", "Only what was written in these last seconds."),
  query("tailLines", "integer", "Only this many of the last lines."),
  query("timestamps", "boolean", "Whether lines begin with their time."),
];

const singular: Readonly<Record<string, string>> = {
  pods: "Pod",
  services: "Service",
  nodes: "Node",
  serviceaccounts: "ServiceAccount",
};
const wholePath: Parameter = {
  name: "path",
  in: "path",
  type: "string",
  required: true,
  doc: "Where the request goes.",
};

export function specialPaths(version: GroupVersion, special: VirtualResource, dialect: Dialect): PathItem[] {
  const [resource, part] = special.path.split("/") as [string, string | undefined];
  const root = `${rootOf(version)}${special.namespaced ? "/namespaces/{namespace}" : ""}/${resource}`;
  const path = part === undefined ? root : `${root}/{name}/${part}`;
  const outer = special.namespaced ? [namespace] : [];
  const id = `${special.namespaced ? "Namespaced" : ""}${part === undefined ? special.kind : `${singular[resource]}${capital(part)}`}`;
  const group = idPart(version, dialect);
  const tag = tagOf(version, dialect);
  const any = ["*/*"];
  const message = special.schema ?? created[`${version.version}/${special.path}`] ?? created[special.path];
  if (message) {
    const operation: Operation = {
      method: "post",
      id: `create${group}${id}`,
      tag,
      doc: `Create a ${message.name}${part === undefined ? "" : ` of a ${singular[resource]}`}.`,
      action: "post",
      kind: publishedKind(message.kind!, dialect),
      consumes: any,
      produces: media(dialect),
      parameters: writing,
      body: message,
      answers: { "200": message, "201": message, "202": message },
    };
    return [
      {
        path,
        parameters: [...(part === undefined ? [] : [nameOf(message.name)]), ...outer, pretty],
        operations: [operation],
      },
    ];
  }
  const connection = connections[special.path];
  if (connection) {
    const kind = { group: version.group, version: version.version, kind: connection.kind };
    const item = (where: string, suffix: string, more: readonly Parameter[]): PathItem => ({
      path: where,
      parameters: [nameOf(connection.kind), ...outer, ...more],
      operations: connection.methods.map((method) => ({
        method,
        id: `connect${group}${capital(method)}${id}${suffix}`,
        tag,
        doc: `Connect ${method.toUpperCase()} requests to ${part} of a ${singular[resource]}.`,
        action: "connect",
        kind,
        consumes: any,
        produces: any,
        parameters: connection.parameters,
        answers: { "200": "string" },
      })),
    });
    return part === "proxy"
      ? [item(path, "", []), item(`${path}/{path}`, "WithPath", [wholePath])]
      : [item(path, "", [])];
  }
  if (special.path === "pods/log") {
    const operation: Operation = {
      method: "get",
      id: `read${group}${id}`,
      tag,
      doc: "Read the log of a Pod.",
      action: "get",
      kind: { group: "", version: "v1", kind: "Pod" },
      consumes: any,
      produces: ["text/plain", ...media(dialect)],
      parameters: logged,
      answers: { "200": "string" },
    };
    return [{ path, parameters: [nameOf("Pod"), ...outer, pretty], operations: [operation] }];
  }
  return special.path === "componentstatuses" ? componentPaths(path, group, tag, dialect) : [];
}

function componentPaths(path: string, group: string, tag: string, dialect: Dialect): PathItem[] {
  const ctx = {
    method: "get",
    tag,
    kind: publishedKind(ComponentStatus.kind, dialect),
    consumes: ["*/*"],
  } as const;
  const list: Operation = {
    ...ctx,
    id: `list${group}ComponentStatus`,
    doc: "List how the components of the cluster are.",
    action: "list",
    produces: [...media(dialect), ...streams(dialect)],
    parameters: listing,
    answers: { "200": listOf(ComponentStatus) },
  };
  const read: Operation = {
    ...ctx,
    id: `read${group}ComponentStatus`,
    doc: "Read how a component of the cluster is.",
    action: "get",
    produces: media(dialect),
    parameters: [],
    answers: { "200": ComponentStatus },
  };
  return [
    { path, parameters: [pretty], operations: [list] },
    { path: `${path}/{name}`, parameters: [nameOf("ComponentStatus"), pretty], operations: [read] },
  ];
}
