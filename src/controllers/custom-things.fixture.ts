// Test fixture: a custom resource, which controllers know only by its metadata.
import type { AnyObject, ApiClient } from "#client";

/** Functions that define a custom resource in one version, move it to another one, and create it. */
export function customThings(client: ApiClient) {
  const definitions = `/apis/apiextensions.${client.dialect.wire.groupSuffix}/v1/customresourcedefinitions`;
  const version = (name: string, served: boolean, storage: boolean) => ({
    name,
    served,
    storage,
    schema: { openAPIV3Schema: { type: "object" } },
  });
  const definition = (versions: readonly object[]) => ({
    apiVersion: `apiextensions.${client.dialect.wire.groupSuffix}/v1`,
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      versions,
    },
  });
  const path = (served: string): string => `/apis/example.com/${served}/namespaces/default/things`;
  return {
    path,
    define: () => client.request("POST", definitions, definition([version("v1beta1", true, true)])),
    moveToV1: async (): Promise<void> => {
      const present = (await client.request("GET", `${definitions}/things.example.com`)) as {
        metadata: object;
      };
      const changed = definition([version("v1", true, true), version("v1beta1", false, false)]);
      await client.request("PUT", `${definitions}/things.example.com`, {
        ...changed,
        metadata: present.metadata,
      });
    },
    make: async (served: string, name: string, ownerReferences: readonly object[] = []) =>
      (await client.request("POST", path(served), {
        apiVersion: `example.com/${served}`,
        kind: "Thing",
        metadata: { name, ownerReferences },
      })) as AnyObject,
  };
}
