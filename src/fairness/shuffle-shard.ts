// Shuffle sharding: each flow is assigned a few of the queues, so that a flow which fills its queues shares
// all of them with hardly any other flow.

/** Hashes a schema and a flow distinguisher to a number below 2^53. */
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

/** Deals `handSize` different cards of a deck into `hand`, determined by the hash. */
export function dealHand(hash: number, deckSize: number, handSize: number, hand: number[]): void {
  let rest = hash;
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = deckSize - dealt;
    let card = rest % left;
    rest = Math.floor(rest / left);
    // The value is an index among the remaining cards: skip the cards dealt below it.
    let at = dealt;
    for (let index = 0; index < dealt; index++) {
      if (card < hand[index]!) {
        at = index;
        break;
      }
      card++;
    }
    // The hand is kept sorted; its order does not matter.
    for (let index = dealt; index > at; index--) hand[index] = hand[index - 1]!;
    hand[at] = card;
  }
  hand.length = handSize;
}
