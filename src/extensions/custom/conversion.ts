// Conversion between the versions of a custom kind. Without a webhook, versions differ only in their name:
// fields that a version does not declare are dropped when an object is read in it.
import type { ApiObject } from "#registry";

/** Converts objects to an apiVersion, preserving their order. */
export type Convert = (objects: readonly ApiObject[], to: string) => Promise<readonly ApiObject[]>;

export const convertNothing: Convert = async (objects, to) =>
  objects.map((object) => ({ ...object, apiVersion: to }));
