import assert from "node:assert/strict";
import { test } from "node:test";
import { APIGroupList, APIResourceList, APIVersions } from "#api";
import { type DialectName, dialects } from "#dialect";
import { type Message, decodeEnvelope, encodeJson, protobufCodec, yamlToJson } from "#schema";
import { type Json, at, each, serve } from "../../../server.fixture.ts";

interface Resource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
}

for (const name of ["orch", "kubernetes"] satisfies DialectName[]) {
  const { must, ask } = await serve({ dialect: name });
  const dialect = dialects[name];
  const suffix = name === "orch" ? "orch.io" : "k8s.io";
  const groups = (await must(200, "GET", "/apis")).at("groups") as {
    name: string;
    versions: { groupVersion: string; version: string }[];
    preferredVersion: { groupVersion: string };
  }[];
  const versions = [
    "/api/v1",
    ...groups.flatMap((group) => group.versions.map(({ groupVersion }) => `/apis/${groupVersion}`)),
  ];

  test(`${name}: the core group is served at /api, the others at /apis`, async () => {
    const core = await must(200, "GET", "/api");
    assert.deepEqual([core.at("kind"), core.at("versions")], ["APIVersions", ["v1"]]);
    assert.ok(groups.length >= 10);
    assert.ok(groups.some((group) => group.name === `events.${suffix}`));
    for (const group of groups) {
      const own = await must(200, "GET", `/apis/${group.name}`);
      assert.deepEqual(own.json, { kind: "APIGroup", apiVersion: "v1", ...group });
      assert.deepEqual(group.preferredVersion, group.versions[0]);
    }
  });

  test(`${name}: every version lists its resources, and each of them answers`, async () => {
    for (const path of versions) {
      const list = await must(200, "GET", path);
      assert.equal(list.at("groupVersion"), path.replace(/^\/apis?\//, ""));
      const resources = list.at("resources") as Resource[];
      const listed = resources.map((resource) => resource.name);
      assert.deepEqual(listed, listed.toSorted());
      assert.equal(new Set(each(resources, "name")).size, resources.length);
      for (const { name: resource, singularName, kind, verbs } of resources) {
        assert.ok(
          kind && verbs.length > 0 && (singularName || resource.includes("/")),
          `${path} ${resource}`,
        );
        if (verbs.includes("list")) await must(200, "GET", `${path}/${resource}?limit=1`);
      }
    }
  });

  test(`${name}: group lists accept any method and application/*, resource lists only GET with a specific type`, async () => {
    for (const path of ["/apis", "/apis/apps"]) {
      await must(200, "POST", path);
      await must(200, "GET", path, { accept: "application/*" });
      assert.equal((await must(406, "GET", path, { accept: "text/html" })).at("details"), undefined);
    }
    for (const path of ["/api", "/api/v1", "/apis/apps/v1"]) {
      for (const method of ["HEAD", "POST", "DELETE"])
        assert.equal((await ask(method, path)).status, 405, `${method} ${path}`);
      assert.deepEqual((await must(406, "GET", path, { accept: "application/*" })).at("details"), {});
    }
  });

  test(`${name}: events are offered in both groups with every verb`, async () => {
    for (const path of ["/api/v1", `/apis/events.${suffix}/v1`]) {
      const events = ((await must(200, "GET", path)).at("resources") as Resource[]).find(
        (resource) => resource.name === "events",
      )!;
      assert.deepEqual(
        { ...events, storageVersionHash: "" },
        {
          name: "events",
          singularName: "event",
          namespaced: true,
          kind: "Event",
          verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
          shortNames: ["ev"],
          storageVersionHash: "",
        },
      );
    }
  });

  test(`${name}: discovery supports YAML and protobuf, too`, async () => {
    const shapes: [path: string, schema: Message][] = [
      ["/api", APIVersions],
      ["/apis", APIGroupList],
      [`/apis/apps/v1`, APIResourceList],
    ];
    for (const [path, schema] of shapes) {
      const { json } = await must(200, "GET", path);
      assert.deepEqual(
        JSON.parse(yamlToJson((await must(200, "GET", path, { accept: "application/yaml" })).text)),
        json,
      );
      const binary = await must(200, "GET", path, { accept: dialect.wire.protobufMediaType });
      const { raw, apiVersion, kind } = decodeEnvelope(binary.bytes, dialect.wire.protobufMagic);
      const decoded = JSON.parse(
        encodeJson(schema, protobufCodec(schema).decode(raw, { apiVersion, kind }) as never),
      ) as Json;
      assert.deepEqual({ ...decoded, apiVersion: "" }, { ...json, apiVersion: "" });
      assert.deepEqual((await must(200, "GET", `${path}?pretty=1`)).json, json);
    }
    await must(406, "GET", "/apis", { accept: "text/html" });
  });

  // Release 1.27 has only v2beta1; v2 serves newer clients of the kubernetes dialect.
  for (const version of name === "kubernetes" ? ["v2beta1"] : ["v2beta1", "v2"]) {
    const accept = `application/json;g=${dialect.wire.discoveryGroup};v=${version};as=APIGroupDiscoveryList`;
    test(`${name}: aggregated discovery ${version} has the same content as the plain one`, async () => {
      const [core, others] = [
        await must(200, "GET", "/api", { accept: `${accept},application/json` }),
        await must(200, "GET", "/apis", { accept }),
      ];
      assert.equal(core.headers["content-type"], accept);
      assert.deepEqual(each(others.at("items"), "metadata.name"), each(groups, "name"));
      for (const answer of [core, others]) {
        assert.deepEqual(
          [answer.at("kind"), answer.at("apiVersion")],
          ["APIGroupDiscoveryList", `${dialect.wire.discoveryGroup}/${version}`],
        );
        for (const group of answer.at("items") as Json[]) {
          const groupName = (at(group, "metadata.name") ?? "") as string;
          for (const served of group["versions"] as Json[]) {
            const path = groupName ? `/apis/${groupName}/${served["version"]}` : `/api/${served["version"]}`;
            const plain = ((await must(200, "GET", path)).at("resources") as Resource[]).filter(
              (resource) => !resource.name.includes("/"),
            );
            assert.deepEqual(each(served["resources"], "resource"), each(plain, "name"));
            assert.deepEqual(each(served["resources"], "verbs"), each(plain, "verbs"));
            assert.equal(served["freshness"], "Current");
          }
        }
      }
    });

    test(`${name}: aggregated discovery ${version} is not sent again for a matching ETag`, async () => {
      const first = await must(200, "GET", "/apis", { accept });
      assert.match(String(first.headers["etag"]), /^"[0-9A-F]{128}"$/);
      const again = await must(304, "GET", "/apis", {
        accept,
        headers: { "if-none-match": String(first.headers["etag"]) },
      });
      assert.equal(again.text, "");
      await must(200, "GET", "/apis", { accept, headers: { "if-none-match": '"other"' } });
    });
  }

  test(`${name}: a client that accepts the aggregated form gets it, one that accepts an unknown form gets plain JSON`, async () => {
    assert.equal(
      (
        await must(200, "GET", "/apis", {
          accept: `application/json,application/json;g=${dialect.wire.discoveryGroup};v=v2beta1;as=APIGroupDiscoveryList`,
        })
      ).at("kind"),
      "APIGroupDiscoveryList",
    );
    assert.equal(
      (
        await must(200, "GET", "/apis", {
          accept: `application/json;g=${dialect.wire.discoveryGroup};v=v9;as=APIGroupDiscoveryList,application/json`,
        })
      ).at("kind"),
      "APIGroupList",
    );
  });

  test(`${name}: aggregated discovery is available in every encoding, with one ETag`, async () => {
    const parameters = `g=${dialect.wire.discoveryGroup};v=v2beta1;as=APIGroupDiscoveryList`;
    const tags = new Set<unknown>();
    for (const media of ["application/json", "application/yaml", dialect.wire.protobufMediaType]) {
      const answer = await must(200, "GET", "/apis", { accept: `${media};${parameters}` });
      assert.equal(answer.headers["content-type"], `${media};${parameters}`);
      assert.match(answer.text, /customresourcedefinitions/);
      tags.add(answer.headers["etag"]);
    }
    assert.equal(tags.size, 1);
  });

  test(`${name}: an aggregated document is built once, and rebuilt when the served resources change`, async () => {
    const accept = `application/json;g=${dialect.wire.discoveryGroup};v=v2beta1;as=APIGroupDiscoveryList`;
    const read = async (): Promise<unknown> => (await must(200, "GET", "/apis", { accept })).headers["etag"];
    const made = async (): Promise<number> =>
      Number(/^aggregator_discovery_\S+ (\d+)/m.exec((await must(200, "GET", "/metrics")).text)![1]);
    const [tag, before] = [await read(), await made()];
    assert.deepEqual([await read(), await made()], [tag, before]);
    const names = { plural: "hats", singular: "hat", kind: "Hat", listKind: "HatList" };
    const schema = { openAPIV3Schema: { type: "object" } };
    const version = { name: "v1", served: true, storage: true, schema };
    const body = {
      apiVersion: `apiextensions.${suffix}/v1`,
      kind: "CustomResourceDefinition",
      metadata: { name: "hats.example.com" },
      spec: { group: "example.com", scope: "Namespaced", names, versions: [version] },
    };
    await must(201, "POST", `/apis/apiextensions.${suffix}/v1/customresourcedefinitions`, { body });
    while ((await ask("GET", "/apis/example.com/v1")).status !== 200);
    assert.notEqual(await read(), tag);
    assert.equal(await made(), before + 1);
  });

  test(`${name}: unknown paths are not found`, async () => {
    for (const path of ["/api/v2", "/apis/unheard", "/apis/unheard/v1", "/apis/apps/v9", "/apix"])
      assert.equal((await ask("GET", path)).status, 404, path);
  });

  test(`${name}: the root lists all paths, and they respond`, async () => {
    const paths = (await must(200, "GET", "/")).at("paths") as string[];
    assert.deepEqual(paths, paths.toSorted());
    for (const path of versions) assert.ok(paths.includes(path), path);
    // Directories are requested with a trailing slash; a listed prefix is no document, as in kube-apiserver.
    const others: Readonly<Record<string, number>> = { "/logs": 301, "/openapi/v3/": 404 };
    for (const path of paths) assert.equal((await ask("GET", path)).status, others[path] ?? 200, path);
    assert.deepEqual((await must(200, "GET", "/index.html")).at("paths"), paths);
  });

  test(`${name}: /version reports the release that is implemented`, async () => {
    const answer = await must(200, "GET", "/version");
    assert.deepEqual([answer.at("major"), answer.at("minor")], ["1", "27"]);
    // When run from source, the commit is unknown.
    assert.equal(answer.at("gitCommit"), "unknown");
    await must(405, "POST", "/version");
  });
}

test("storage version hashes and aggregated discovery have feature gates", async () => {
  const { must } = await serve({
    dialect: "kubernetes",
    flags: ["--feature-gates=StorageVersionHash=false,AggregatedDiscoveryEndpoint=false"],
  });
  const core = await must(200, "GET", "/api/v1");
  assert.equal(core.text.includes("storageVersionHash"), false);
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
  assert.equal((await must(200, "GET", "/apis", { headers: { accept } })).at("kind"), "APIGroupList");
});

test("storage version hashes equal those of kube-apiserver", async () => {
  const { must } = await serve({ dialect: "kubernetes" });
  for (const [path, name, hash] of [
    ["/api/v1", "configmaps", "qFsyl6wFWjQ="],
    ["/apis/apps/v1", "deployments", "8aSe+NMegvE="],
  ] as const) {
    const { resources } = JSON.parse((await must(200, "GET", path)).text) as {
      resources: { name: string; storageVersionHash?: string }[];
    };
    assert.equal(resources.find((each) => each.name === name)?.storageVersionHash, hash);
  }
});
