// Checks that the object in a request is the one its path names.
import { badRequest } from "#base";
import { type ApiObject, type Endpoint, pathSegment } from "#registry";
import type { ApiCall } from "./api-call.ts";

/** Checks the namespace first: of two errors, kube-apiserver reports that one. */
export function checkIdentity(
  { name, namespace }: Pick<ApiObject["metadata"], "name" | "namespace">,
  { target }: ApiCall,
  { resource }: Endpoint,
): void {
  if (resource.namespaced && namespace && namespace !== target.namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if (!name)
    throw badRequest(
      `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`,
    );
  if (name !== target.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`);
}

/** Checks that a name is valid in a URL path. */
export function checkName(name: string): void {
  const problems = pathSegment(name);
  if (problems.length > 0)
    throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problems.join(";")}`);
}
