// `orch auth why USER VERB RESOURCE [NAME]`: whether a user is allowed to do something, what decided it, and
// which rules of existing roles would allow it. Uses the credentials of the caller.
import { parseArgs } from "node:util";
import type { PolicyRule } from "#api";
import {
  type Attributes,
  type Explanation as ServerExplanation,
  type Suggestion,
  describeRule,
  explainHeader,
  explanationAnnotation,
  narrowestRules,
} from "#authz";
import { type ClientRequest, connectionOf, https, readClientConfig, textOf } from "#client";
import { type Dialect, chosenDialect, dialects, groupName } from "#dialect";
import type { Output } from "../output.ts";

const usage = `Usage: orch auth why [flags] USER VERB RESOURCE [NAME]

Reports whether a user may do something, and which mode, binding and rule decided it. If it is denied, the
narrowest rules of existing roles that would allow it are listed. RESOURCE is pods, deployments.apps, pods/exec
or a path such as /metrics.

  --namespace NAMESPACE    Namespace of the resource (default: all namespaces, or the cluster scope).
  --group GROUP            A group of the user; may be repeated. The groups of all users or service
                           accounts are added.
  --orchconfig FILE        Client configuration for the API server (default: $ORCHCONFIG).
  --dialect NAME           The dialect of the server: ${Object.keys(dialects).join(" or ")}.
`;

const flags = {
  namespace: { type: "string", short: "n", default: "" },
  group: { type: "string", multiple: true, default: [] as string[] },
  orchconfig: { type: "string" },
  dialect: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** Sends a request and returns the body of a successful response. */
type SendRequest = (
  request: Pick<ClientRequest, "method" | "path"> & { readonly body?: object },
) => Promise<string>;

export async function authCommand(argv: readonly string[], { out, err }: Output): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: flags, allowPositionals: true });
    if (values.help) {
      out(usage);
      return 0;
    }
    const [command, user, verb, resource, name = "", ...more] = positionals;
    if (command !== "why" || !user || !verb || !resource || more.length > 0)
      throw new Error("specify a user, a verb and a resource");
    const choice = chosenDialect(argv);
    if ("problem" in choice) throw new Error(choice.problem);
    const file = values.orchconfig ?? process.env["ORCHCONFIG"] ?? "";
    if (file === "") throw new Error("--orchconfig or $ORCHCONFIG must name a client configuration");
    const transport = https(connectionOf(readClientConfig(file)));
    try {
      const ask: SendRequest = async ({ method, path, body }) => {
        const response = await transport.send({
          method,
          path,
          headers: {
            accept: "application/json",
            ...(body && { "content-type": "application/json", [explainHeader]: "true" }),
          },
          ...(body && { body: Buffer.from(JSON.stringify(body)) }),
        });
        const text = await textOf(response);
        if (response.status >= 300) throw new Error(messageOf(text, response.status));
        return text;
      };
      const attributes = attributesOf(user, values.group, verb, resource, name, values.namespace);
      const found = await explainAccess(attributes, choice.dialect, ask);
      out(explanationText(attributes, found));
      return found.allowed ? 0 : 2;
    } finally {
      transport.close();
    }
  } catch (error) {
    err(`error: ${(error as Error).message}\n\n${usage}`);
    return 1;
  }
}

function messageOf(text: string, status: number): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? `the server responded with status ${status}`;
  } catch {
    return `the server responded with status ${status}`;
  }
}

/** Returns the attributes of the review, with the groups that the server would add. */
export function attributesOf(
  user: string,
  given: readonly string[],
  verb: string,
  resourceOrPath: string,
  name: string,
  namespace: string,
): Attributes {
  const serviceAccount = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user);
  const implied = serviceAccount
    ? ["system:serviceaccounts", `system:serviceaccounts:${serviceAccount[1]!}`]
    : [];
  const groups = [...new Set([...given, ...implied, "system:authenticated"])];
  if (resourceOrPath.startsWith("/")) return { user: { name: user, groups }, verb, path: resourceOrPath };
  const [whole = "", subresource = ""] = resourceOrPath.split("/", 2);
  const [resource = "", ...group] = whole.split(".");
  return {
    user: { name: user, groups },
    verb,
    resource: { group: group.join("."), version: "*", resource, subresource, name, namespace },
  };
}

export interface Explanation {
  readonly allowed: boolean;
  readonly reason: string;
  readonly error?: string;
  /** Rules that would allow the request, narrowest first; absent if the caller may not list roles. */
  readonly rules?: readonly Suggestion[];
  /** The authorizer that decided and the rule that allows the request, if the server reports them. */
  readonly decidedBy?: string;
  readonly rule?: PolicyRule;
}

export async function explainAccess(
  { user, verb, resource, path }: Attributes,
  dialect: Dialect,
  ask: SendRequest,
): Promise<Explanation> {
  const group = groupName(dialect, { group: "authorization", branded: true });
  const reviewText = await ask({
    method: "POST",
    path: `/apis/${group}/v1/subjectaccessreviews`,
    body: {
      apiVersion: `${group}/v1`,
      kind: "SubjectAccessReview",
      spec: {
        user: user.name,
        groups: user.groups,
        ...(resource
          ? { resourceAttributes: { ...resource, verb } }
          : { nonResourceAttributes: { path: path ?? "", verb } }),
      },
    },
  });
  const { status, metadata } = JSON.parse(reviewText) as {
    status: { allowed?: boolean; reason?: string; evaluationError?: string };
    metadata?: { annotations?: Readonly<Record<string, string>> };
  };
  const { allowed = false, reason = "", evaluationError: error } = status;
  const annotation = metadata?.annotations?.[explanationAnnotation];
  const { decidedBy, rule } = (annotation === undefined ? {} : JSON.parse(annotation)) as ServerExplanation;
  const decision = {
    allowed,
    reason,
    ...(error && { error }),
    ...(decidedBy && { decidedBy }),
    ...(rule && { rule }),
  };
  if (allowed) return decision;
  const rules = await allowingRules(
    { user, verb, ...(resource ? { resource } : { path: path ?? "" }) },
    dialect,
    ask,
  );
  return { ...decision, ...(rules && { rules }) };
}

async function allowingRules(
  attributes: Attributes,
  dialect: Dialect,
  ask: SendRequest,
): Promise<Explanation["rules"] | undefined> {
  const base = `/apis/${groupName(dialect, { group: "rbac.authorization", branded: true })}/v1`;
  const namespace = attributes.resource?.namespace ?? "";
  const kinds: [kind: string, path: string][] = [["ClusterRole", `${base}/clusterroles`]];
  if (namespace !== "") kinds.push(["Role", `${base}/namespaces/${encodeURIComponent(namespace)}/roles`]);
  try {
    const found = await Promise.all(
      kinds.map(async ([kind, path]) => {
        const { items } = JSON.parse(await ask({ method: "GET", path })) as {
          items: readonly { metadata: { name: string }; rules?: readonly PolicyRule[] | null }[];
        };
        return items.map(({ metadata, rules }) => ({
          role: `${kind} ${metadata.name}`,
          rules: rules ?? [],
        }));
      }),
    );
    return narrowestRules(found.flat(), attributes);
  } catch {
    // The caller may not list roles.
    return undefined;
  }
}

export function explanationText({ user, verb, resource, path }: Attributes, found: Explanation): string {
  const kind = resource && (resource.group ? `${resource.resource}.${resource.group}` : resource.resource);
  const target = resource
    ? [kind, ...(resource.subresource ? [resource.subresource] : [])].join("/") +
      (resource.name ? ` ${resource.name}` : "") +
      (resource.namespace ? ` in ${resource.namespace}` : "")
    : path;
  const lines = [`${user.name} may ${found.allowed ? "" : "not "}${verb} ${target}.`];
  if (found.reason !== "") lines.push(`  decided by  ${found.reason}`);
  else if (found.decidedBy !== undefined) lines.push(`  decided by  ${found.decidedBy}`);
  if (found.rule) lines.push(`  by the rule ${describeRule(found.rule)}`);
  if (found.error !== undefined) lines.push(`  error       ${found.error}`);
  if (found.rules?.length === 0) lines.push("  No rule of an existing role would allow it.");
  for (const { role, rule } of found.rules ?? []) lines.push(`  suggestion  ${role}: ${describeRule(rule)}`);
  if (!found.allowed && !found.rules) lines.push("  Roles cannot be listed, so none is suggested.");
  return `${lines.join("\n")}\n`;
}
