// Shuffle sharding: each flow is dealt a few of the queues, so that one flow which fills its queues shares all of
// them with hardly any other flow.

/** A number below 2^53 that depends on the schema and on what tells its flows apart. */
export function flowHash(schema: string, distinguisher: string): number {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  const mix = (text: string): void => {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ (code + at), 0x85ebca6b);
    }
    low = Math.imul(low ^ (low >>> 15) ^ high, 0x2c1b3c6d);
    high = Math.imul(high ^ (high >>> 13) ^ low, 0x297a2d39);
  };
  mix(schema);
  mix(distinguisher);
  low ^= low >>> 16;
  high ^= high >>> 16;
  return (high & 0x1f_ffff) * 2 ** 32 + (low >>> 0);
}

/** Deals `handSize` different cards of a deck into `hand`, by the hash alone. */
export function dealHand(hash: number, deckSize: number, handSize: number, hand: number[]): void {
  let rest = hash;
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = deckSize - dealt;
    let card = rest % left;
    rest = Math.floor(rest / left);
    // The number counts the cards that are still in the deck: step over those that were dealt below it.
    let at = dealt;
    for (let index = 0; index < dealt; index++) {
      if (card < hand[index]!) {
        at = index;
        break;
      }
      card++;
    }
    // Sorted while dealing; the order of a hand does not matter.
    for (let index = dealt; index > at; index--) hand[index] = hand[index - 1]!;
    hand[at] = card;
  }
  hand.length = handSize;
}
