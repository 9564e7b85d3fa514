// The binding subresource: assigns a pod to a node, once.
import { Binding, type Pod, Status } from "#api";
import { badRequest, conflict, type FieldError, invalid, notFound, notSupported, required } from "#base";
import { timestamp, type ServerObjects } from "#registry";
import { type ApiCall, type VirtualResource, checkName } from "#endpoints";
import { setCondition } from "./pod-conditions.ts";
import {
  type VirtualContext,
  admissionOf,
  encodeReply,
  decodeRequest,
  created,
  onlyCreate,
} from "./review-request.ts";

const pods = { group: "", resource: "pods" };

export function bindingEndpoints(server: ServerObjects, context: VirtualContext): readonly VirtualResource[] {
  const bind = async (call: ApiCall) => {
    const { object: binding, options, choice } = await decodeRequest<Binding>(call, context, Binding);
    const admission = admissionOf(call, context, Binding, options);
    await admission.mutate(binding);
    const name = call.target.name || (binding.metadata.name ?? "");
    if (binding.metadata.name !== name) throw badRequest("name in URL does not match name in Binding object");
    checkName(name);
    const errors = bindingErrors(binding);
    if (errors.length > 0) throw invalid({ group: "", kind: "Binding" }, name, errors);
    await admission.validate(binding);
    await assign(server, call.target.namespace, name, binding, options.dryRun);
    return encodeReply(201, created(), Status, choice, context);
  };
  return [
    {
      path: "bindings",
      kind: "Binding",
      namespaced: true,
      singular: "binding",
      verbs: ["create"],
      handle: async (call) => {
        onlyCreate(call, { namespaced: true, subresource: false });
        return await bind(call);
      },
    },
    {
      path: "pods/binding",
      kind: "Binding",
      namespaced: true,
      verbs: ["create"],
      handle: async (call) => {
        onlyCreate(call, { namespaced: true, subresource: true });
        return await bind(call);
      },
    },
  ];
}

function bindingErrors({ target }: Binding): FieldError[] {
  const errors: FieldError[] = [];
  if (target.kind && target.kind !== "Node")
    errors.push(notSupported("target.kind", target.kind, ["Node", "<empty>"]));
  if (!target.name) errors.push(required("target.name"));
  return errors;
}

/**
 * Writes to the store directly, since pod validation does not allow a change of the node. Retries on
 * conflicts.
 */
async function assign(
  server: ServerObjects,
  namespace: string,
  name: string,
  { metadata, target }: Binding,
  dryRun: boolean,
): Promise<void> {
  const resource = server.resources.pods.resource;
  const key = resource.keyOf(namespace, name);
  for (;;) {
    const cached = await resource.source.get(key, { at: "latest" });
    if (!cached) throw notFound(pods, name);
    const pod = resource.objectOf(cached) as unknown as Pod;
    if (metadata.uid && metadata.uid !== pod.metadata.uid)
      throw conflict(
        pods,
        name,
        `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${pod.metadata.uid}`,
      );
    if (metadata.resourceVersion && metadata.resourceVersion !== String(cached.revision))
      throw conflict(
        pods,
        name,
        `Precondition failed: ResourceVersion in precondition: ${metadata.resourceVersion}, ResourceVersion in object meta: ${cached.revision}`,
      );
    const why = refusal(pod);
    if (why) throw conflict({ group: "", resource: "pods/binding" }, name, why);
    pod.spec.nodeName = target.name!;
    pod.metadata.annotations = { ...pod.metadata.annotations, ...metadata.annotations };
    setCondition(pod, { type: "PodScheduled", status: "True" }, timestamp(new Date(server.clock.now())));
    if (dryRun) return;
    const outcome = await resource.write({ key, value: resource.encode(pod).value, expect: cached.revision });
    if (outcome.done) return;
  }
}

function refusal({ metadata, spec }: Pod): string | undefined {
  if (metadata.deletionTimestamp)
    return `pod ${metadata.name} is being deleted, cannot be assigned to a host`;
  if (spec.nodeName) return `pod ${metadata.name} is already assigned to node "${spec.nodeName}"`;
  if (spec.schedulingGates?.length) return `pod ${metadata.name} has non-empty .spec.schedulingGates`;
  return undefined;
}
