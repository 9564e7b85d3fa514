// Writes every object of a cluster again, unchanged, through the API. The server stores an object again if its stored form
// is stale, such as a value under a replaced encryption key, and leaves it alone otherwise.
import { type AnyObject, type ApiClient, kinds } from "#client";
import {
  type MetadataClient,
  type ServedResource,
  discover,
  metadataClient,
  resourceText,
} from "#controllerkit";

export interface RewriteProgress {
  /** All objects of a resource were written; `stale` counts those that were stored again. */
  done(resource: string, objects: number, stale: number): void;
  failed(what: string, why: string): void;
}

const pageSize = 500;
const requestsAtOnce = 8;

/** Writes all objects; a resource or object that cannot be written does not stop the others. */
export async function rewriteObjects(client: ApiClient, progress: RewriteProgress): Promise<void> {
  const { resources, failed } = await discover(client);
  for (const why of failed) progress.failed("API discovery", why);
  const elsewhere = await servedElsewhere(client);
  for (const resource of resources)
    if (
      !elsewhere.has(resource.groupVersion) &&
      ["list", "patch"].every((verb) => resource.verbs.includes(verb))
    )
      await rewriteResource(client, resource, progress);
}

/** Returns the group versions that other servers serve and store. */
async function servedElsewhere(client: ApiClient): Promise<ReadonlySet<string>> {
  const { items } = await client.of(kinds.apiServices).list({});
  return new Set(items.filter(({ spec }) => spec.service).map(({ spec }) => `${spec.group}/${spec.version}`));
}

async function rewriteResource(
  client: ApiClient,
  resource: ServedResource,
  { done, failed }: RewriteProgress,
): Promise<void> {
  const name = resourceText(resource).replace(/\.$/, "");
  const objects = metadataClient(client, resource);
  let [seen, stale] = [0, 0];
  const rewrite = async (object: AnyObject): Promise<void> => {
    seen++;
    try {
      if (await isRewritten(objects, object)) stale++;
    } catch (error) {
      const { namespace, name: ofObject } = object.metadata;
      failed(`${name} ${namespace ? `${namespace}/` : ""}${ofObject}`, (error as Error).message);
    }
  };
  try {
    let next: string | undefined;
    do {
      const page = await objects.list({ limit: pageSize, ...(next !== undefined && { continue: next }) });
      const left = [...page.items];
      const worker = async (): Promise<void> => {
        for (let object = left.pop(); object; object = left.pop()) await rewrite(object);
      };
      await Promise.all(Array.from({ length: requestsAtOnce }, worker));
      next = page.continue;
    } while (next !== undefined);
  } catch (error) {
    failed(name, (error as Error).message);
  }
  if (seen > 0) done(name, seen, stale);
}

/** An empty patch changes nothing, so only an object that is stored again gets a new version. */
async function isRewritten(objects: MetadataClient, { metadata }: AnyObject): Promise<boolean> {
  const after = await objects.patch(metadata.namespace, metadata.name!, {});
  return after !== undefined && after.metadata.resourceVersion !== metadata.resourceVersion;
}
