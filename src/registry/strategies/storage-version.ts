// Storage versions: what each API server encodes and decodes, and the common encoding version.
import {
  type ServerStorageVersion,
  StorageVersion,
  type StorageVersionCondition,
  type StorageVersionStatus,
} from "#api";
import { type FieldError, invalidValue, required } from "#base";
import { dns1035LabelProblems, dns1123SubdomainProblems } from "#schema";
import type { NameRule } from "../names.ts";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { firstFew } from "./cells/text.ts";
import { bareStatusPart } from "./parts.ts";
import { formatErrors, qualifiedNameErrors } from "./rules/format.ts";

const shownServers = 3;

const groupAndResource: NameRule = (name) => {
  const cut = name.lastIndexOf(".");
  if (cut < 0) return ["name must be in the form of <group>.<resource>"];
  return [
    ...dns1123SubdomainProblems(name.slice(0, cut)).map((text) => `the group segment ${text}`),
    ...dns1035LabelProblems(name.slice(cut + 1)).map((text) => `the resource segment ${text}`),
  ];
};

const empty = "must be non-empty";
const malformed =
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')";

/** Validates an API version: `apps/v1`, or `v1` alone. */
function versionProblems(text: string): string[] {
  const parts = text.split("/");
  if (parts.length > 2) return [malformed];
  const version = parts.at(-1)!;
  const found = (part: string, problems: readonly string[]) =>
    problems.map((each) => `${part} part: ${each}`);
  return [
    ...(parts.length === 2 ? found("group", parts[0] ? dns1123SubdomainProblems(parts[0]) : [empty]) : []),
    ...found("version", version ? dns1035LabelProblems(version) : [empty]),
  ];
}

function serverErrors(
  { apiServerID = "", encodingVersion = "", decodableVersions = [] }: ServerStorageVersion,
  at: string,
): FieldError[] {
  const version = (text: string, field: string): FieldError[] => {
    const problems = versionProblems(text);
    return problems.length === 0 ? [] : [invalidValue(field, text, problems.join(","))];
  };
  const errors = [
    ...formatErrors(apiServerID, `${at}.apiServerID`, dns1123SubdomainProblems),
    ...version(encodingVersion, `${at}.encodingVersion`),
    ...decodableVersions.flatMap((each, position) => version(each, `${at}.decodableVersions[${position}]`)),
  ];
  return decodableVersions.includes(encodingVersion)
    ? errors
    : [
        ...errors,
        invalidValue(
          `${at}.decodableVersions`,
          decodableVersions,
          `decodableVersions must include encodingVersion ${encodingVersion}`,
        ),
      ];
}

function commonErrors({
  storageVersions = [],
  commonEncodingVersion: commonBefore,
}: StorageVersionStatus): FieldError[] {
  const versions = new Set(storageVersions.map(({ encodingVersion = "" }) => encodingVersion));
  const [common] = versions.size === 1 ? versions : [];
  if (common === commonBefore) return [];
  const detail =
    common === undefined
      ? "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet"
      : `the ${commonBefore === undefined ? "" : "actual "}common encoding version is ${common}`;
  return [invalidValue("status.commonEncodingVersion", commonBefore ?? null, detail)];
}

function conditionErrors(conditions: readonly StorageVersionCondition[]): FieldError[] {
  const positions = new Map<string, number>();
  return conditions.flatMap(({ type, status, reason, message = "" }, position) => {
    const at = `status[${position}]`;
    const before = positions.get(type);
    positions.set(type, position);
    return [
      ...(before === undefined
        ? []
        : [
            invalidValue(
              `${at}.type`,
              type,
              `the type of the condition is not unique, it also appears in conditions[${before}]`,
            ),
          ]),
      ...qualifiedNameErrors(type, `${at}.type`),
      ...qualifiedNameErrors(status, `${at}.status`),
      ...(reason === "" ? [required(`${at}.reason`, "reason cannot be empty")] : []),
      ...(message === "" ? [required(`${at}.message`, "message cannot be empty")] : []),
    ];
  });
}

const statusErrors = ({ status }: StorageVersion): FieldError[] => [
  ...(status.storageVersions ?? []).flatMap((each, position) =>
    serverErrors(each, `status.storageVersions[${position}]`),
  ),
  ...commonErrors(status),
  ...conditionErrors(status.conditions ?? []),
];

export const storageVersion = strategy<StorageVersion>({
  resource: "storageversions",
  singular: "storageversion",
  scope: "Cluster",
  hub: StorageVersion,
  onlyIfServed: true,
  metaChecks: { asChange: 0 },
  conditionalUpdate: true,
  status: "cleared",
  validateName: groupAndResource,
  prepareForCreate: (obj) => {
    obj.status = {};
  },
  validateUpdate: () => [],
  subresources: { status: bareStatusPart(statusErrors) },
  columns: [
    nameColumn,
    {
      name: "CommonEncodingVersion",
      type: "string",
      doc: "Common encoding version of all servers.",
      cell: ({ status }: StorageVersion) => status.commonEncodingVersion ?? "<unset>",
    },
    {
      name: "StorageVersions",
      type: "string",
      doc: "Encoding version of each server.",
      cell: ({ status: { storageVersions = [] } }: StorageVersion) =>
        firstFew(
          storageVersions.map(
            ({ apiServerID = "", encodingVersion = "" }) => `${apiServerID}=${encodingVersion}`,
          ),
          shownServers,
          (left) => ` + ${left} more...`,
        ) || "<unset>",
    },
    ageColumn,
  ],
});
