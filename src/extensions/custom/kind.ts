// The declaration of a kind defined at run time: standard metadata, and everything else according to its
// schema. Codecs, merge types and published schemas are derived from it as from any other declaration.
import { type CustomResourceDefinition, ObjectMeta } from "#api";
import type { Steps } from "#base";
import type { Dialect } from "#dialect";
import type { KindSchema } from "#registry";
import { type OpenFields, embedded } from "#schema";
import { selectableNames } from "../definitions/selectable-fields.ts";
import { applyStructuralDefaults, dropNulls } from "../structural/defaults.ts";
import { dropMalformed } from "../structural/malformed.ts";
import { objectMergeType } from "../structural/merge-type.ts";
import { pruneField } from "../structural/prune.ts";
import { publishedObject } from "../structural/published.ts";
import {
  type SchemaProps,
  type Structural,
  structuralOf,
  structuralSteps,
} from "../structural/structural.ts";

export interface CustomKind {
  readonly schema: KindSchema;
  /** Undefined if the definition has no schema; all fields are then preserved. */
  readonly structural: () => Structural | undefined;
  readonly props: SchemaProps | undefined;
  /** Parses the schema before its first use, in steps so that a large schema does not block other work. */
  prepare(): Steps<void>;
}

const metadata = embedded(1, ObjectMeta, "Name, labels and whatever else every object carries.");

/** Returns the published name, such as `com.example.v1.Widget` for the group `example.com`. */
const publishedName = (group: string, version: string, kind: string): string =>
  [...group.split(".").reverse(), version, kind].join(".");

export function customKind(
  { spec, status }: CustomResourceDefinition,
  version: string,
  dialect: Dialect,
  publishesSelectors = false,
): CustomKind {
  const { group } = spec;
  const names = status.acceptedNames.kind ? status.acceptedNames : spec.names;
  const found = (spec.versions ?? []).find(({ name }) => name === version);
  const props = found?.schema?.openAPIV3Schema as SchemaProps | undefined;
  let parsed: Structural | undefined;
  const structural = (): Structural | undefined => (parsed ??= props && structuralOf(props, dialect));
  const keepsAll = spec.preserveUnknownFields === true;
  let merge: ReturnType<OpenFields["mergeType"]> | undefined;
  const open: OpenFields = {
    listKind: names.listKind || `${names.kind}List`,
    read: (key, value, walk) => {
      const schema = structural();
      return pruneField(key, value, schema, walk, keepsAll || !schema || schema.preserveUnknown);
    },
    dropNulls: (object) => {
      const schema = structural();
      if (schema && !keepsAll) dropNulls(object, schema);
    },
    dropMalformed: (object) => dropMalformed(object, structural()),
    applyDefaults: (object) => {
      const schema = structural();
      if (schema && !keepsAll) applyStructuralDefaults(object, schema);
    },
    mergeType: () => (merge ??= objectMergeType(keepsAll ? undefined : structural())),
    published: (reference, of) =>
      publishedObject(keepsAll && of === "v2" ? undefined : structural(), {
        dialect,
        version: of,
        metadata: reference,
      }),
  };
  return {
    prepare: function* () {
      if (props) parsed ??= yield* structuralSteps(props, dialect);
    },
    structural,
    props,
    schema: {
      shape: "message",
      name: names.kind,
      package: "",
      doc: "",
      fields: { metadata },
      more: {
        open,
        publishedName: publishedName(group, version, names.kind),
        ...(publishesSelectors && { selectable: found ? selectableNames(found) : [] }),
      },
      kind: { group, branded: false, version, kind: names.kind },
    },
  };
}
