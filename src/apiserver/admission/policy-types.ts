// Type checking of the expressions in admission policies, and the policy status that reports its findings.

import {
  type AdmissionPlugin,
  type ExpressionWarning,
  type KindName,
  type KnownKinds,
  admissionExpressions,
  typeWarnings,
} from "#admission";
import type { ValidatingAdmissionPolicy } from "#api";
import { ApiError } from "#base";
import { type CelType, type SchemaLike, typeOfSchema } from "#cel";
import type { Dialect } from "#dialect";
import type { Catalog } from "#endpoints";
import { type ApiObject, type Endpoint, type ServerObjects, update } from "#registry";
import { type SchemaObject, collectDefinitions, schemaName, schemaReference } from "#schema";
import { type PostStartHook, postStartHook } from "../bootstrap/post-start-hook.ts";

/**
 * Keeps the status of every policy up to date: the warnings of the type checker and the generation they are
 * for.
 */
export function policyTypeChecks(
  server: ServerObjects,
  plugins: readonly AdmissionPlugin[],
  catalog: Catalog,
  release: number,
): ((signal: AbortSignal) => Promise<void>) | undefined {
  if (!plugins.some(({ name }) => name === "ValidatingAdmissionPolicy")) return undefined;
  const checks = typeChecks(server, catalog, release);
  return async (signal) => {
    await checks.start();
    await checks.run(server.clock, signal);
  };
}

function typeChecks(server: ServerObjects, catalog: Catalog, release: number): PostStartHook {
  const policies = server.resources.validatingAdmissionPolicies;
  const expressions = admissionExpressions(server.dialect.cli.product, release);
  const logFailure = ({ message: error }: Error): void =>
    server.onError("type checking of admission policies failed; retrying", { error });
  return postStartHook({
    name: "validating-admission-policy-type-checks",
    everyMilliseconds: 60_000,
    follows: [policies],
    reconcile: async () => {
      const known = knownKinds(catalog, server.dialect, release);
      for (const policy of await policies.list()) {
        if ((policy.status.observedGeneration ?? 0) >= (policy.metadata.generation ?? 0)) continue;
        // A failed write delays neither the other policies nor the start of the server.
        const warnings = typeWarnings(policy, known, expressions, release);
        await writeWarnings(server, policy, warnings).catch(logFailure);
      }
    },
    failed: logFailure,
  });
}

async function writeWarnings(
  server: ServerObjects,
  policy: ValidatingAdmissionPolicy,
  warnings: readonly ExpressionWarning[],
): Promise<void> {
  const { endpoint } = server.resources.validatingAdmissionPolicies;
  const { generation } = policy.metadata;
  const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: [...warnings] };
  const transform = (old: ApiObject | undefined): ApiObject => {
    const current = old as ApiObject & ValidatingAdmissionPolicy;
    // If the policy has changed in the meantime, its new generation is checked by a later run.
    if (current.metadata.generation === generation)
      current.status = { ...current.status, observedGeneration: generation, typeChecking };
    return current;
  };
  const request = { ...server.writer.request(endpoint), subresource: "status" };
  await update(request, policy.metadata.name ?? "", { transform }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.reason === "NotFound")) throw error;
  });
}

/** Groups for which the reference's type checker has no schemas. */
const unknownGroups = new Set(["apiextensions", "apiregistration"]);

/**
 * Returns the served kinds by resource. The types of custom kinds are known from release 1.29 on, which reads
 * them from the OpenAPI documents.
 */
export function knownKinds(catalog: Catalog, dialect: Dialect, release: number): KnownKinds {
  const celTypes = new Map<Endpoint, CelType | undefined>();
  return {
    kindsOf: ({ group, version, resource }) => {
      const name = resource.toLowerCase();
      return catalog.versions
        .filter((each) => each.version === version && (group === "" || each.group === group))
        .flatMap((each) => [...each.endpoints.values()].map((endpoint) => ({ ...each, endpoint })))
        .filter(
          ({
            endpoint: {
              kind,
              resource: { strategy },
            },
          }) => [strategy.resource, strategy.singular ?? kind.toLowerCase()].includes(name),
        )
        .map(({ group: of, endpoint: { kind } }): KindName => ({ group: of, version, kind }));
    },
    typeOf: ({ group, version, kind }) => {
      const found = catalog.isBuiltIn(group) || release >= 29 ? catalog.find(group, version) : undefined;
      if (!found || unknownGroups.has(found.neutral)) return undefined;
      const endpoint = [...found.endpoints.values()].find((each) => each.kind === kind);
      return endpoint && celTypes.getOrInsertComputed(endpoint, () => typeOfKind(endpoint, dialect));
    },
  };
}

function typeOfKind({ schema }: Endpoint, dialect: Dialect): CelType | undefined {
  const definitions = collectDefinitions([schema], dialect, "v3");
  const byReference = (reference: string): SchemaObject =>
    definitions[reference.slice(schemaReference("", "v3").length)] ?? {};
  const whole = byReference(schemaReference(schemaName(schema, dialect), "v3"));
  const resolved = resolveReferences(whole, byReference, dialect.wire.extensionPrefix);
  return typeOfSchema(resolved, "object", true)?.type;
}

/**
 * Returns a published schema with its references resolved. A reference wrapped in allOf, which allows a
 * description or default next to it, is replaced by its target.
 */
function resolveReferences(
  schema: SchemaObject,
  byReference: (reference: string) => SchemaObject,
  prefix: string,
): SchemaLike {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  const target = reference === undefined ? schema : byReference(reference);
  const { type, format, properties, additionalProperties, items } = target;
  const below = (child: SchemaObject): SchemaLike => resolveReferences(child, byReference, prefix);
  const has = (extension: string): boolean =>
    (target as Readonly<Record<string, unknown>>)[`${prefix}${extension}`] === true;
  return {
    ...(type !== undefined && { type }),
    ...(format !== undefined && { format }),
    ...((format === "int-or-string" || has("int-or-string")) && { intOrString: true }),
    ...(has("embedded-resource") && { embeddedResource: true }),
    ...(items && { items: below(items) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: below(additionalProperties) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, below(child)])),
    }),
  };
}
