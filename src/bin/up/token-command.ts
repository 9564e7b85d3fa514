// `orch token`: creates a bootstrap token and prints the command to join another machine with it.
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { apiClient, connectionOf, https, kinds, parseClientConfig, readClientConfig } from "#client";
import { orUndefined } from "#controllerkit";
import type { Dialect } from "#dialect";
import {
  type OptionSet,
  type OptionsOf,
  above,
  dialectOption,
  duration,
  helpOption,
  option,
  section,
} from "#options";
import type { Output } from "../output.ts";
import { clusterCommand } from "./cluster-command.ts";
import { authorityHash } from "./discovery.ts";
import { dataDirOption, pathsFor } from "./paths.ts";

const sections = (dialect: Dialect) =>
  [
    section("Token", [
      option({
        flag: "ttl",
        type: duration,
        default: 24 * 3_600_000,
        check: above(0),
        doc: "Validity of the token.",
      }),
      dataDirOption,
      dialectOption(dialect),
      helpOption,
    ]),
  ] as const;
type TokenOption = OptionsOf<ReturnType<typeof sections>>;
const tokenOptions = (dialect: Dialect): OptionSet<TokenOption> => ({
  program: "orch token",
  summary: "Creates a bootstrap token and prints the command to join a machine with it.",
  dialect,
  sections: sections(dialect),
  checks: [],
});

export const tokenCommand = (argv: readonly string[], output: Output): Promise<number> =>
  clusterCommand(tokenOptions, argv, output, async ({ dialect, settings }) => {
    const paths = pathsFor(dialect, settings.dataDir);
    const transport = https(connectionOf(readClientConfig(paths.adminConfig)));
    try {
      const client = apiClient(transport, dialect);
      const { clusterInfo, clusterInfoConfig } = dialect.names.objects;
      const namespace = dialect.data.publicNamespace;
      const info = await orUndefined(client.of(kinds.configMaps).get(clusterInfo, { namespace }));
      if (!info)
        throw new Error(
          "this cluster listens on the loopback interface only; to allow machines to join, start it with --bind-address=0.0.0.0",
        );
      const config = parseClientConfig(info.data?.[clusterInfoConfig] ?? "", clusterInfo);
      const [id, secret] = [letters(6), letters(16)];
      const encoded = (value: string): string => Buffer.from(value).toString("base64");
      const ends = new Date(Date.now() + settings.ttl).toISOString().replace(/\.\d+Z$/, "Z");
      await client.of(kinds.secrets).create({
        metadata: { name: `bootstrap-token-${id}`, namespace: dialect.data.systemNamespace },
        type: dialect.names.secretTypes.bootstrapToken,
        data: {
          "token-id": encoded(id),
          "token-secret": encoded(secret),
          "usage-bootstrap-authentication": encoded("true"),
          "usage-bootstrap-signing": encoded("true"),
          expiration: encoded(ends),
        },
      });
      const hash = authorityHash(readFileSync(join(paths.pki, "ca.crt"), "utf8"));
      const server = config.clusters?.[0]?.cluster.server ?? "";
      output.out(
        `orch join ${server} --token=${id}.${secret} --discovery-token-ca-cert-hash=${hash} --dialect=${dialect.name}\n`,
      );
      return 0;
    } finally {
      transport.close();
    }
  });

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
const letters = (count: number): string =>
  Array.from({ length: count }, () => alphabet[randomInt(alphabet.length)]).join("");
