import assert from "node:assert/strict";
import { test } from "node:test";
import { issuerOf, parseToken } from "./oidc-token.ts";

const part = (text: string): string => Buffer.from(text).toString("base64url");
const head = part('{"alg":"RS256","kid":"k1"}');
const body = part('{"iss":"https://a","aud":"app","exp":9}');
const cannot = "json: cannot unmarshal";

const claimed = (claims: string): string => `${head}.${part(claims)}.c2ln`;
const refused: [name: string, token: string, why: string][] = [
  ["padding", `${head}.${body}.c2ln==`, "malformed jwt: illegal base64 data at input byte 4"],
  ["a character outside of base64", `!!.${body}.c2ln`, "malformed jwt: illegal base64 data at input byte 0"],
  ["half a byte", `${head}.${body}.c2lnc`, "malformed jwt: illegal base64 data at input byte 4"],
  [
    "a header that is not JSON",
    `${part("junk")}.${body}.c2ln`,
    "malformed jwt: invalid character 'j' looking for beginning of value",
  ],
  [
    "a header that is a list",
    `${part("[]")}.${body}.c2ln`,
    `malformed jwt: ${cannot} array into Go value of type jose.rawHeader`,
  ],
  [
    "a key id that is a number",
    `${part('{"kid":5}')}.${body}.c2ln`,
    `malformed jwt: failed to unmarshal key ID: ${cannot} number into Go value of type string: "5"`,
  ],
  [
    "an algorithm that is a number",
    `${part('{"alg":5}')}.${body}.c2ln`,
    `malformed jwt: failed to unmarshal algorithm: ${cannot} number into Go value of type string: "5"`,
  ],
  ...(
    [
      ['{"aud":["app",5]}', `${cannot} number into Go struct field idToken.aud of type string`],
      ['{"aud":{}}', `${cannot} object into Go struct field idToken.aud of type []string`],
      ['{"iat":"x"}', 'json: invalid number literal, trying to unmarshal "\\"x\\"" into Number'],
      ['{"iat":null}', 'strconv.ParseFloat: parsing "": invalid syntax'],
      ['{"exp":[1]}', `${cannot} array into Go struct field idToken.exp of type json.Number`],
      ['{"sub":true}', `${cannot} bool into Go struct field idToken.sub of type string`],
      ['{"nonce":5,"sub":5}', `${cannot} number into Go struct field idToken.nonce of type string`],
      [
        '{"_claim_names":"x"}',
        `${cannot} string into Go struct field idToken._claim_names of type map[string]string`,
      ],
      [
        '{"_claim_names":{"a":5}}',
        `${cannot} number into Go struct field idToken._claim_names of type string`,
      ],
      [
        '{"_claim_sources":{"a":5}}',
        `${cannot} number into Go struct field idToken._claim_sources of type oidc.claimSource`,
      ],
      [
        '{"_claim_sources":{"a":{"endpoint":5}}}',
        `${cannot} number into Go struct field claimSource._claim_sources.endpoint of type string`,
      ],
    ] as const
  ).map(([claims, why]): [string, string, string] => [
    claims,
    claimed(claims),
    `failed to unmarshal claims: ${why}`,
  ]),
  ["a claim without a source", claimed('{"_claim_names":{"a":"s"}}'), "source does not exist"],
  [
    "a claim with an empty source",
    claimed('{"_claim_names":{"a":""}}'),
    "failed to obtain source from claim name",
  ],
];
for (const [name, token, why] of refused)
  test(`a token with ${name} is refused with kube-apiserver's message`, () =>
    assert.throws(() => parseToken(token), { message: `oidc: ${why}` }));

test("standard claims are case-insensitive, and times may be quoted", () => {
  const { issuer, audiences, expiry, notBefore } = parseToken(
    claimed('{"ISS":"https://a","Aud":null,"exp":"5","nbf":2.5}'),
  );
  assert.deepEqual(
    { issuer, audiences, expiry, notBefore },
    { issuer: "https://a", audiences: [""], expiry: 5, notBefore: 2 },
  );
  assert.equal(issuerOf(claimed('{"ISS":"https://a"}')), "https://a");
  assert.equal(issuerOf(claimed('{"iss":5}')), undefined);
});

test("a null header has no algorithm", () => {
  for (const header of ["", part("null")])
    assert.deepEqual(parseToken(`${header}.${body}.`).header, { alg: "", kid: "", plainPayload: false });
});
