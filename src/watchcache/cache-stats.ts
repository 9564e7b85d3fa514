// Statistics of a cache.

export interface CacheStats {
  /** Bytes of the cached objects. */
  bytes: number;
  /** Changes received from the store; each is delivered to the watchers. */
  events: number;
  /** How often the capacity of the history was increased and decreased. */
  capacityIncreases: number;
  capacityDecreases: number;
  /** Changes and objects of the store that could not be decoded. */
  unreadable: number;
  /** How often all objects were loaded. */
  initializations: number;
  /** Objects sent to watchers as their initial state. */
  initialEvents: number;
  /** Lists served from memory, those of them served by an index, and the objects examined and returned. */
  lists: number;
  indexLists: number;
  fetched: number;
  returned: number;
  /** Lists read from the store, and the objects read for them. */
  storeLists: number;
  storeFetched: number;
}

export const cacheStats = (): CacheStats => ({
  bytes: 0,
  events: 0,
  capacityIncreases: 0,
  capacityDecreases: 0,
  unreadable: 0,
  initializations: 0,
  initialEvents: 0,
  lists: 0,
  indexLists: 0,
  fetched: 0,
  returned: 0,
  storeLists: 0,
  storeFetched: 0,
});
