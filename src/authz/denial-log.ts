// Logs actions that no role allows, at -v=5 and with kube-apiserver's message.
import type { Log } from "#base";
import type { Attributes, ResourceTarget } from "./authorizer.ts";
import type { RbacAuthorizer } from "./rbac.ts";

const level = 5;

/** Returns the authorizer with logging of everything it does not allow. */
export function withDenialLog(rbac: RbacAuthorizer, log: Log): RbacAuthorizer {
  return {
    ...rbac,
    decide: (attributes) => {
      const decision = rbac.decide(attributes);
      if (decision.verdict !== "allow" && log.enabled(level)) log.verbose(level, denialText(attributes));
      return decision;
    },
  };
}

function denialText({ user, verb, resource, path = "" }: Attributes): string {
  const groups = user.groups.map(quoted).join(" ");
  const operation = resource ? resourceText(resource) : `nonResourceURL ${quoted(path)}`;
  const scope = resource?.namespace ? `in namespace ${quoted(resource.namespace)}` : "cluster-wide";
  return `RBAC: no rules authorize user ${quoted(user.name)} with groups [${groups}] to ${quoted(verb)} ${operation} ${scope}`;
}

function resourceText({ resource, group, subresource, name }: ResourceTarget): string {
  const whole = `${resource}${group && `.${group}`}${subresource && `/${subresource}`}`;
  return `resource ${quoted(whole)}${name && ` named ${quoted(name)}`}`;
}

const quoted = (text: string): string => JSON.stringify(text);
