// Between the versions of a defined kind. Without a webhook they differ in nothing but their name: what another
// version does not know is dropped when it is read as that version.
import type { ApiObject } from "#registry";

/** Converts objects to an apiVersion, in their order. */
export type Convert = (objects: readonly ApiObject[], to: string) => Promise<readonly ApiObject[]>;

export const convertNothing: Convert = async (objects, to) =>
  objects.map((object) => ({ ...object, apiVersion: to }));
