import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects, groupName } from "#dialect";
import { servedApis } from "./served-apis.ts";

const flow = groupName(dialects.orch, { group: "flowcontrol.apiserver", branded: true });
const cases: [
  config: Record<string, string>,
  api: [group: string, version: string, resource: string],
  served: boolean,
][] = [
  [{}, ["apps", "v1", "deployments"], true],
  [{}, ["x", "v1beta1", "y"], false],
  [{}, ["x", "v1alpha1", "y"], false],
  [{}, [flow, "v1beta3", "flowschemas"], true],
  [{ "apps/v1": "false" }, ["apps", "v1", "deployments"], false],
  [{ "apps/v1": "false", "apps/v1/deployments": "true" }, ["apps", "v1", "deployments"], true],
  [{ "apps/v1": "false", "apps/v1/deployments": "true" }, ["apps", "v1", "daemonsets"], false],
  [{ "batch/v1/cronjobs": "false" }, ["batch", "v1", "cronjobs"], false],
  [{ "batch/v1/cronjobs": "false" }, ["batch", "v1", "jobs"], true],
  [{ "api/beta": "true" }, ["x", "v1beta1", "y"], true],
  [{ "api/beta": "true" }, ["x", "v1alpha1", "y"], false],
  [{ "api/beta": "false" }, [flow, "v1beta3", "flowschemas"], false],
  [{ "api/all": "false", "apps/v1": "" }, ["apps", "v1", "deployments"], true],
  [{ "api/all": "false" }, ["", "v1", "pods"], false],
  [{ "api/all": "true", "api/alpha": "false" }, ["x", "v1alpha1", "y"], false],
  [{ "v1/pods": "0" }, ["", "v1", "pods"], false],
  [{ "api/all": "false", "api/v1": "true" }, ["", "v1", "pods"], true],
  [{ "/v1/pods": "false" }, ["", "v1", "pods"], false],
];
for (const [config, api, served] of cases) {
  test(`${JSON.stringify(config)} ${served ? "serves" : "does not serve"} ${api.join("/")}`, () =>
    assert.equal(servedApis(config, dialects.orch)(...api), served));
}
