// create and replace.
import { deepCopy, invalid, required } from "#base";
import { create as createObject, defaulted, normalizeOwnerReferences, update } from "#registry";
import { objectFromBody } from "./body.ts";
import { type EndpointHandler, replyWith, represented, writeRequest } from "./context.ts";
import { checkIdentity } from "./identity.ts";
import { responding } from "./operation-span.ts";
import { recordRequest } from "./recorded-request.ts";

export const create: EndpointHandler = async (context, call, endpoint) => {
  const { as, unrepresentable } = represented(context, call, endpoint, "object");
  const { object: sent, options } = await objectFromBody(call, endpoint, "CreateOptions");
  if (call.target.namespaceMissing && endpoint.resource.namespaced)
    throw invalid(endpoint, sent.metadata.name ?? "", [required("metadata.namespace")]);
  const request = writeRequest(context, call, endpoint, { ...options, unrepresentable });
  call.operation?.step("About to convert to expected version");
  const next = defaulted(request, sent);
  call.operation?.step("Conversion done");
  recordRequest(call, endpoint, next);
  call.operation?.event("About to store object in database");
  const cached = await createObject(request, next);
  call.operation?.event("Write to database call succeeded", { len: call.bodyBytes });
  call.operation?.event(responding);
  return replyWith(as, endpoint, 201, as.object(cached));
};

export const replace: EndpointHandler = async (context, call, endpoint) => {
  const { as, unrepresentable } = represented(context, call, endpoint, "object");
  const { object: sent, options } = await objectFromBody(call, endpoint, "UpdateOptions");
  const request = writeRequest(context, call, endpoint, { ...options, unrepresentable });
  call.operation?.step("About to convert to expected version");
  const { name, namespace } = sent.metadata;
  const next = defaulted(request, sent);
  call.operation?.step("Conversion done");
  // Objects with mismatched names are recorded, too.
  recordRequest(call, endpoint, next);
  checkIdentity({ name, namespace }, call, endpoint);
  normalizeOwnerReferences(request, next);
  call.operation?.event("About to store object in database");
  const { object, created } = await update(request, call.target.name, {
    transform: () => deepCopy(next),
    pure: true,
    createIfAbsent: endpoint.resource.strategy.createOnUpdate ?? false,
    mayCreate: () => context.mayCreate(call),
    uid: next.metadata.uid,
  });
  call.operation?.event("Write to database call succeeded", { len: call.bodyBytes });
  call.operation?.event(responding);
  return replyWith(as, endpoint, created ? 201 : 200, as.object(object));
};
