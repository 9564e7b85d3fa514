// Reviews of authentication and authorization: objects that are created to be answered and are never stored.
import {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectReviewV1,
  SelfSubjectReviewV1alpha1,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  TokenReview,
  type gatedFields,
} from "#api";
import { type TokenMethod, reviewSelf, reviewToken } from "#authn";
import {
  type AccessExplainer,
  type Authorizer,
  explainHeader,
  explainReview,
  reviewAccess,
  reviewLocalAccess,
  reviewOwnAccess,
  reviewOwnRules,
} from "#authz";
import { type Call, header } from "#http";
import type { KindSchema } from "#registry";
import type { ApiCall, VirtualGroup, VirtualResource } from "#endpoints";
import { type VirtualContext, admit, encodeReply, decodeRequest, onlyCreate } from "./review-request.ts";

export interface ReviewOptions {
  readonly authorizer: Authorizer;
  readonly explainer: AccessExplainer;
  /** Authentication methods for bearer tokens. */
  readonly tokens: readonly TokenMethod[];
  /** Audiences of this API: tokens must be valid for one of them. */
  readonly audiences: readonly string[];
  /** False if SelfSubjectReview is disabled. */
  readonly selfReviews?: boolean;
  /** Reduces declarations to the fields that the server has. */
  readonly reduced: ReturnType<typeof gatedFields>;
  /** The minor release that is served. */
  readonly release: number;
}

interface ReviewedKind {
  readonly namespaced?: boolean;
  /** All served versions; they differ only in name. */
  readonly versions?: readonly string[];
}

/** The versions of SelfSubjectReview in a release. */
const selfReviewsIn = (release: number): readonly KindSchema[] => [
  ...(release >= 28 ? [SelfSubjectReviewV1] : []),
  SelfSubjectReview,
  SelfSubjectReviewV1alpha1,
];

export function reviewGroups(context: VirtualContext, options: ReviewOptions): readonly VirtualGroup[] {
  const { authorizer, explainer, tokens, audiences } = options;
  const { dialect } = context;
  const selfReviews = options.selfReviews === false ? [] : selfReviewsIn(options.release);
  const review = <T extends object>(
    declared: KindSchema,
    respond: (review: T, call: ApiCall) => Promise<object> | object,
    { namespaced = false, versions = [declared.kind.version] }: ReviewedKind = {},
  ): VirtualResource => {
    const schema = options.reduced(declared);
    const { kind } = schema.kind;
    return {
      path: `${kind.toLowerCase()}s`,
      kind,
      schema,
      namespaced,
      singular: kind.toLowerCase(),
      verbs: ["create"],
      handle: async (call) => {
        onlyCreate(call, { namespaced, subresource: false });
        const { object, options: write, choice } = await decodeRequest<T>(call, context, schema);
        await admit(call, context, schema, object, write, versions);
        return encodeReply(201, await respond(object, call), schema, choice, context);
      },
    };
  };
  const selfReview = (schema: KindSchema): VirtualResource =>
    review<SelfSubjectReview>(
      schema,
      (request, { user }) => reviewSelf(request, user!, context.clock.now()),
      { versions: selfReviews.map(({ kind: { version } }) => version) },
    );
  return [
    {
      group: "authentication",
      branded: true,
      version: "v1",
      endpoints: [
        ...selfReviews.filter((schema) => schema === SelfSubjectReviewV1).map(selfReview),
        review<TokenReview>(TokenReview, (request) => reviewToken(request, tokens, audiences)),
      ],
    },
    ...selfReviews
      .filter((schema) => schema !== SelfSubjectReviewV1)
      .map((schema) => ({
        group: "authentication",
        branded: true,
        version: schema.kind.version,
        endpoints: [selfReview(schema)],
      })),
    {
      group: "authorization",
      branded: true,
      version: "v1",
      endpoints: [
        review<LocalSubjectAccessReview>(
          LocalSubjectAccessReview,
          (request, { target }) => reviewLocalAccess(request, target.namespace, authorizer, dialect),
          { namespaced: true },
        ),
        review<SelfSubjectAccessReview>(SelfSubjectAccessReview, (request, { user }) =>
          reviewOwnAccess(request, user!, authorizer, dialect),
        ),
        review<SelfSubjectRulesReview>(SelfSubjectRulesReview, (request, { user }) =>
          reviewOwnRules(request, user!, authorizer),
        ),
        review<SubjectAccessReview>(SubjectAccessReview, async (request, { call, user }) => {
          const answer = await reviewAccess(request, authorizer, dialect);
          return wantsExplanation(call) ? await explainReview(answer, user!, explainer) : answer;
        }),
      ],
    },
  ];
}

const wantsExplanation = ({ headers }: Call): boolean => header(headers, explainHeader) === "true";
