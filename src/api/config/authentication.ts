// The file of --authentication-config: token issuers, and anonymous access.
import { type TypeOf, bool, embedded, list, optional, pointer, required, string } from "#schema";
import { accessConfig } from "../packages.ts";

function declared(version: string) {
  const { message, kind } = accessConfig(version);
  const Issuer = message("Issuer", "Issuer of tokens and the audiences it issues them for.", {
    url: required(
      1,
      string,
      "URL of the issuer, which must equal the iss claim of its tokens; must use https.",
    ),
    discoveryURL: optional(
      2,
      string,
      "URL of the discovery document, if it differs from the default below the issuer URL.",
    ),
    certificateAuthority: optional(
      3,
      string,
      "PEM-encoded CA certificates for verifying the issuer's endpoint; defaults to the system's roots.",
    ),
    audiences: required(
      4,
      list(string),
      "Accepted audiences, one of which must be in the aud claim of a token.",
    ),
    audienceMatchPolicy: optional(
      5,
      string,
      "How audiences are matched: MatchAny; required if there are several audiences.",
    ),
    egressSelectorType: optional(
      6,
      string,
      "Egress selection for requests to the issuer: controlplane or cluster.",
    ),
  });
  const ClaimValidationRule = message(
    "ClaimValidationRule",
    "A rule that validates the claims of a token; either claim or expression is set.",
    {
      claim: optional(1, string, "Name of a claim that must have the required value."),
      requiredValue: optional(2, string, "Required value of the claim."),
      expression: optional(3, string, "CEL expression over claims that must evaluate to true."),
      message: optional(4, string, "Message returned if the expression evaluates to false."),
    },
  );
  const PrefixedClaimOrExpression = message(
    "PrefixedClaimOrExpression",
    "Claim or CEL expression that a user name or groups are taken from.",
    {
      claim: optional(1, string, "Name of the claim to use."),
      prefix: pointer(2, string, "Prefix added to the claim's value; required if claim is set."),
      expression: optional(3, string, "CEL expression over claims that yields the value."),
    },
  );
  const ClaimOrExpression = message(
    "ClaimOrExpression",
    "Claim or CEL expression that a value is taken from.",
    {
      claim: optional(1, string, "Name of the claim to use."),
      expression: optional(2, string, "CEL expression over claims that yields the value."),
    },
  );
  const ExtraMapping = message("ExtraMapping", "Maps claims to an extra attribute of the user.", {
    key: required(1, string, "Key of the attribute, a path prefixed with a domain such as example.org/team."),
    valueExpression: required(2, string, "CEL expression over claims that yields the values."),
  });
  const ClaimMappings = message("ClaimMappings", "How the claims of a token are mapped to user attributes.", {
    username: embedded(1, PrefixedClaimOrExpression, "Source of the user name."),
    groups: embedded(2, PrefixedClaimOrExpression, "Source of the groups."),
    uid: embedded(3, ClaimOrExpression, "Source of the UID."),
    extra: optional(4, list(ExtraMapping), "Sources of extra attributes."),
  });
  const UserValidationRule = message("UserValidationRule", "A rule that validates the mapped user.", {
    expression: required(1, string, "CEL expression over user that must evaluate to true."),
    message: optional(2, string, "Message returned if the expression evaluates to false."),
  });
  const JWTAuthenticator = message("JWTAuthenticator", "An authenticator for the JWT tokens of an issuer.", {
    issuer: embedded(1, Issuer, "Issuer of the tokens."),
    claimValidationRules: optional(
      2,
      list(ClaimValidationRule),
      "Rules that validate the claims of the tokens.",
    ),
    claimMappings: embedded(3, ClaimMappings, "How claims are mapped to user attributes."),
    userValidationRules: optional(4, list(UserValidationRule), "Rules that validate the mapped user."),
  });
  const AnonymousAuthCondition = message(
    "AnonymousAuthCondition",
    "A condition under which anonymous requests are allowed.",
    {
      path: required(1, string, "URL path for which anonymous requests are allowed."),
    },
  );
  const AnonymousAuthConfig = message("AnonymousAuthConfig", "Configuration of anonymous authentication.", {
    enabled: required(1, bool, "Whether anonymous requests are allowed."),
    conditions: optional(
      2,
      list(AnonymousAuthCondition),
      "Conditions, one of which anonymous requests must meet; no restriction if empty.",
    ),
  });
  return kind("AuthenticationConfiguration", "Configuration of how requests are authenticated.", {
    jwt: required(1, list(JWTAuthenticator), "JWT authenticators, one for each issuer."),
    anonymous: optional(2, AnonymousAuthConfig, "Configuration of anonymous authentication."),
  });
}

const versions = ["v1", "v1beta1", "v1alpha1"].map(declared);
/** Returns the kind in each version that files may use. */
export const authenticationConfigs = (): typeof versions => versions;
export type AuthenticationConfig = TypeOf<(typeof versions)[number]>;
export type JwtAuthenticator = NonNullable<AuthenticationConfig["jwt"]>[number];
