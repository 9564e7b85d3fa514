// The file of --authentication-config: token issuers, and anonymous access.
import { type TypeOf, bool, embedded, list, optional, pointer, required, string } from "#schema";
import { accessConfig } from "../packages.ts";

function declared(version: string) {
  const { message, kind } = accessConfig(version);
  const Issuer = message("Issuer", "Who issues tokens, and for whom.", {
    url: required(1, string, "The iss claim of its tokens, an https URL."),
    discoveryURL: optional(2, string, "Where its discovery document is, when that is not below the URL."),
    certificateAuthority: optional(3, string, "PEM text of the authorities that vouch for it."),
    audiences: required(4, list(string), "Audiences, one of which a token must be issued for."),
    audienceMatchPolicy: optional(5, string, "MatchAny; must be set for several audiences."),
    egressSelectorType: optional(6, string, "The network it is in: controlplane or cluster."),
  });
  const ClaimValidationRule = message("ClaimValidationRule", "What a token must say.", {
    claim: optional(1, string, "A claim that must have the required value."),
    requiredValue: optional(2, string, "The value."),
    expression: optional(3, string, "An expression over claims that must be true."),
    message: optional(4, string, "What is said when it is not."),
  });
  const PrefixedClaimOrExpression = message("PrefixedClaimOrExpression", "Where a name comes from.", {
    claim: optional(1, string, "The claim that holds it."),
    prefix: pointer(2, string, "What is put in front of it; must be given with a claim."),
    expression: optional(3, string, "An expression over claims that gives it."),
  });
  const ClaimOrExpression = message("ClaimOrExpression", "Where a value comes from.", {
    claim: optional(1, string, "The claim that holds it."),
    expression: optional(2, string, "An expression over claims that gives it."),
  });
  const ExtraMapping = message("ExtraMapping", "A further attribute of the user.", {
    key: required(1, string, "A path below a domain, such as example.org/team."),
    valueExpression: required(2, string, "An expression over claims that gives its values."),
  });
  const ClaimMappings = message("ClaimMappings", "How claims become a user.", {
    username: embedded(1, PrefixedClaimOrExpression, "The user's name."),
    groups: embedded(2, PrefixedClaimOrExpression, "The user's groups."),
    uid: embedded(3, ClaimOrExpression, "The user's identity."),
    extra: optional(4, list(ExtraMapping), "Further attributes."),
  });
  const UserValidationRule = message("UserValidationRule", "What must hold for a user.", {
    expression: required(1, string, "An expression over user that must be true."),
    message: optional(2, string, "What is said when it is not."),
  });
  const JWTAuthenticator = message("JWTAuthenticator", "One issuer of tokens.", {
    issuer: embedded(1, Issuer, "The issuer."),
    claimValidationRules: optional(2, list(ClaimValidationRule), "What its tokens must say."),
    claimMappings: embedded(3, ClaimMappings, "How their claims become a user."),
    userValidationRules: optional(4, list(UserValidationRule), "What must hold for that user."),
  });
  const AnonymousAuthCondition = message("AnonymousAuthCondition", "Where no credential is needed.", {
    path: required(1, string, "The path of the request."),
  });
  const AnonymousAuthConfig = message("AnonymousAuthConfig", "Requests without a credential.", {
    enabled: required(1, bool, "Whether they are let in."),
    conditions: optional(2, list(AnonymousAuthCondition), "Only these; all when empty."),
  });
  return kind("AuthenticationConfiguration", "How requests are authenticated.", {
    jwt: required(1, list(JWTAuthenticator), "Issuers of tokens."),
    anonymous: optional(2, AnonymousAuthConfig, "Requests without a credential."),
  });
}

const versions = ["v1", "v1beta1", "v1alpha1"].map(declared);
/** Returns the kind in each version that files may use. */
export const authenticationConfigs = (): typeof versions => versions;
export type AuthenticationConfig = TypeOf<(typeof versions)[number]>;
export type JwtAuthenticator = NonNullable<AuthenticationConfig["jwt"]>[number];
