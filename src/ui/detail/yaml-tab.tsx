// The current object as YAML.
import { useState } from "preact/hooks";
import { CallError } from "../api/client.ts";
import { useShell } from "../shell/context.ts";
import { Failure, Loading } from "../shell/states.tsx";
import { useLoaded } from "../shell/use-loaded.ts";
import type { Selected } from "../view/route.ts";
import { LongText } from "./long-text.tsx";
import { withoutManagedFields } from "./managed-fields.ts";
import { objectPath } from "./object-path.ts";

const atFirst = 200_000;

export function YamlTab({ selected }: { selected: Selected }) {
  const { client } = useShell();
  const [managed, setManaged] = useState(false);
  const loaded = useLoaded(
    async (signal) => {
      const found = await objectPath(client, selected, signal);
      if (!found) throw new CallError(404, "NotFound", `the server does not serve the kind ${selected.kind}`);
      return await client.text(found.path, {}, signal, "application/yaml");
    },
    [client, selected],
  );
  if (loaded.is === "loading") return <Loading what="the object" />;
  if (loaded.is === "failed") return <Failure error={loaded.error} what="The object" />;
  return (
    <>
      <div class="sub-bar">
        <label>
          <input type="checkbox" checked={managed} onChange={() => setManaged(!managed)} /> with managed
          fields
        </label>
      </div>
      <pre class="text-view" tabIndex={0} aria-label="The object as YAML">
        <LongText text={managed ? loaded.value : withoutManagedFields(loaded.value)} initialLimit={atFirst} />
      </pre>
    </>
  );
}
