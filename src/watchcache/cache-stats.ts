// What a cache counts about itself.

export interface CacheStats {
  /** Bytes of the objects held. */
  bytes: number;
  /** Changes that came from the store; each is handed on to whoever watches. */
  events: number;
  /** How often the history was made to hold more, and less. */
  capacityIncreases: number;
  capacityDecreases: number;
  /** Changes and objects of the store that could not be read. */
  unreadable: number;
  /** How often everything was loaded. */
  initializations: number;
  /** Objects told to watches as their initial state. */
  initialEvents: number;
  /** Lists answered from memory, those of them that were found by an index, what was looked at and returned. */
  lists: number;
  indexLists: number;
  fetched: number;
  returned: number;
  /** Lists read from the store itself, and what came of them. */
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
