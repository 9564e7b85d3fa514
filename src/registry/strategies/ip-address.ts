// Allocated IP addresses: the name is the address, and its parent is immutable.
import { IPAddress, type ParentReference } from "#api";
import { type FieldError, addressProblem, formatIp, invalidValue, parseIp, required } from "#base";
import { dns1123SubdomainProblems } from "#schema";
import { type NameRule, pathSegment } from "../names.ts";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { formatErrors } from "./rules/format.ts";
import { goParent } from "./rules/go-syntax.ts";
import { same } from "./rules/unchanged.ts";

const addressName: NameRule = (name) => {
  const problem = addressProblem(name);
  if (problem !== undefined) return [problem];
  return canonical(name) === name ? [] : ["not a valid ip in canonical format"];
};

function canonical(name: string): string {
  const [address = "", ...zone] = name.split("%");
  const bytes = parseIp(address);
  if (!bytes) return name;
  const text = `${address.includes(":") && bytes.length === 4 ? "::ffff:" : ""}${formatIp(bytes)}`;
  return [text, ...zone].join("%");
}

function parentErrors(parent: ParentReference | undefined): FieldError[] {
  const at = "spec.parentRef";
  if (!parent) return [required(at)];
  const { group = "", resource = "", name = "", namespace = "" } = parent;
  const segment = (text: string, field: string): FieldError[] =>
    pathSegment(text).map((detail) => invalidValue(`${at}.${field}`, text, detail));
  return [
    ...(group === "" ? [] : formatErrors(group, `${at}.group`, dns1123SubdomainProblems)),
    ...(resource === "" ? [required(`${at}.resource`)] : segment(resource, "resource")),
    ...(name === "" ? [required(`${at}.name`)] : segment(name, "name")),
    ...segment(namespace, "namespace"),
  ];
}

/** Formats the parent: `services/default/web`. */
function parentText({ spec: { parentRef } }: IPAddress): string {
  if (!parentRef) return "<none>";
  const { group, resource = "", namespace, name = "" } = parentRef;
  const kind = (group ? `${resource}.${group}` : resource).toLowerCase();
  return [kind, ...(namespace ? [namespace] : []), name].join("/");
}

export const ipAddress = strategy<IPAddress>({
  resource: "ipaddresses",
  singular: "ipaddress",
  shortNames: ["ip"],
  scope: "Cluster",
  hub: IPAddress,
  onlyIfServed: true,
  metaChecks: { asNew: 1 },
  validateName: addressName,
  plainGeneratedNames: true,
  validate: ({ spec }) => parentErrors(spec.parentRef),
  validateUpdate: ({ spec }, { spec: old }) => [
    ...parentErrors(spec.parentRef),
    ...(same(spec.parentRef, old.parentRef)
      ? []
      : [
          invalidValue(
            "spec.parentRef",
            spec.parentRef ? goParent(spec.parentRef) : null,
            "field is immutable",
          ),
        ]),
  ],
  columns: [
    nameColumn,
    { name: "ParentRef", type: "string", doc: "Object that the address is allocated to.", cell: parentText },
    { ...ageColumn, undeclared: true },
  ],
});
