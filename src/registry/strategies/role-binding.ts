// Role bindings. Their role reference is immutable.
import { ClusterRoleBinding, RoleBinding, type RoleRef, type Subject } from "#api";
import { type FieldError, invalidValue, notSupported, required } from "#base";
import { type Dialect, groupName } from "#dialect";
import { dns1123SubdomainProblems } from "#schema";
import { pathSegment } from "../names.ts";
import { type Column, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { formatErrors, pathSegmentProblems } from "./rules/format.ts";
import { supported } from "./rules/one-of.ts";
import { goRoleRef } from "./rules/go-syntax.ts";
import { same } from "./rules/unchanged.ts";

type Binding = RoleBinding | ClusterRoleBinding;

const groupOf = (dialect: Dialect): string => groupName(dialect, RoleBinding.kind);

function fillGroups({ roleRef, subjects }: Binding, dialect: Dialect): void {
  if (!roleRef.apiGroup) roleRef.apiGroup = groupOf(dialect);
  for (const subject of subjects ?? [])
    if (!subject.apiGroup && (subject.kind === "User" || subject.kind === "Group"))
      subject.apiGroup = groupOf(dialect);
}

function errorsOf(
  { roleRef, subjects }: Binding,
  roleKinds: readonly string[],
  namespaced: boolean,
  dialect: Dialect,
): FieldError[] {
  const errors = refErrors(roleRef, roleKinds, dialect);
  subjects?.forEach((subject, position) =>
    errors.push(...subjectErrors(subject, namespaced, `subjects[${position}]`, dialect)),
  );
  return errors;
}

function refErrors(
  { apiGroup, kind, name }: RoleRef,
  kinds: readonly string[],
  dialect: Dialect,
): FieldError[] {
  const errors = supported(apiGroup, "roleRef.apiGroup", [groupOf(dialect)]);
  errors.push(...supported(kind, "roleRef.kind", kinds));
  return [
    ...errors,
    ...(name ? formatErrors(name, "roleRef.name", pathSegmentProblems) : [required("roleRef.name")]),
  ];
}

function subjectErrors(
  { kind, name, apiGroup, namespace }: Subject,
  namespaced: boolean,
  at: string,
  dialect: Dialect,
): FieldError[] {
  const errors = name ? [] : [required(`${at}.name`)];
  switch (kind) {
    case "ServiceAccount":
      if (name) errors.push(...formatErrors(name, `${at}.name`, dns1123SubdomainProblems));
      errors.push(...supported(apiGroup, `${at}.apiGroup`, [""]));
      if (!namespaced && !namespace) errors.push(required(`${at}.namespace`));
      return errors;
    case "User":
    case "Group":
      return [...errors, ...supported(apiGroup, `${at}.apiGroup`, [groupOf(dialect)])];
    default:
      return [...errors, notSupported(`${at}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  }
}

const refChanged = (obj: Binding, old: Binding): FieldError[] =>
  same(obj.roleRef, old.roleRef)
    ? []
    : [invalidValue("roleRef", goRoleRef(obj.roleRef), "cannot change roleRef")];

const subjectsOf = (kind: string, show: (subject: Subject) => string) => (binding: Binding) =>
  (binding.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(show)
    .join(", ");

const columns: readonly Column<Binding>[] = [
  nameColumn,
  {
    name: "Role",
    type: "string",
    doc: "Role that is granted.",
    cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
  },
  ageColumn,
  {
    name: "Users",
    type: "string",
    priority: 1,
    doc: "Users the role is granted to.",
    cell: subjectsOf("User", ({ name }) => name),
  },
  {
    name: "Groups",
    type: "string",
    priority: 1,
    doc: "Groups the role is granted to.",
    cell: subjectsOf("Group", ({ name }) => name),
  },
  {
    name: "ServiceAccounts",
    type: "string",
    priority: 1,
    doc: "Service accounts the role is granted to.",
    cell: subjectsOf("ServiceAccount", ({ namespace, name }) => `${namespace ?? ""}/${name}`),
  },
];

const roleKinds = ["Role", "ClusterRole"];

export const roleBinding = strategy<RoleBinding>({
  resource: "rolebindings",
  singular: "rolebinding",
  scope: "Namespaced",
  hub: RoleBinding,
  metaChecks: { wholeTwice: true },
  createOnUpdate: true,
  validateName: pathSegment,
  defaults: (obj, { dialect }) => fillGroups(obj, dialect),
  validate: (obj, { dialect }) => errorsOf(obj, roleKinds, true, dialect),
  validateUpdate: refChanged,
  columns,
});

export const clusterRoleBinding = strategy<ClusterRoleBinding>({
  resource: "clusterrolebindings",
  singular: "clusterrolebinding",
  scope: "Cluster",
  hub: ClusterRoleBinding,
  metaChecks: { wholeTwice: true },
  createOnUpdate: true,
  validateName: pathSegment,
  defaults: (obj, { dialect }) => fillGroups(obj, dialect),
  validate: (obj, { dialect }) => errorsOf(obj, ["ClusterRole"], false, dialect),
  validateUpdate: refChanged,
  columns,
});
