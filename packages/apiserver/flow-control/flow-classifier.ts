import type { User } from '../authentication/user.ts';
import type { RequestInfo } from '../pipeline/request-info.ts';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { type FlowSchema, readFlowSchema } from './flow-schema.ts';

/** Names the flow that a request belongs to; sent back with its answer. */
export interface Flow {
  readonly schemaUid: string;
  readonly levelUid: string;
}

export const flowControlGroup = 'flowcontrol.apiserver.k8s.io';

const streams: ReadonlySet<string> = new Set(['proxy', 'log', 'exec', 'attach', 'portforward']);

/**
 * Says which FlowSchema a request falls under, by the objects as they are now: the first that matches, by precedence,
 * then by name. Schemas without their priority level do not count.
 */
export class FlowClassifier {
  readonly #schemas: LiveView;
  readonly #levels: LiveView;
  #ordered: readonly (readonly [FlowSchema, Flow])[] = [];
  #seenSchemas = -1;
  #seenLevels = -1;

  constructor(views: LiveViews) {
    this.#schemas = views.of(flowControlGroup, 'flowschemas');
    this.#levels = views.of(flowControlGroup, 'prioritylevelconfigurations');
  }

  /** `undefined`: a stream that is in no flow, or no schema matches, as before there are any. */
  classify(user: User, info: RequestInfo): Flow | undefined {
    if (info.isResource && streams.has(info.subresource)) return undefined;
    for (const [schema, flow] of this.#inOrder()) if (schema.matches(user, info)) return flow;
    return undefined;
  }

  #inOrder(): readonly (readonly [FlowSchema, Flow])[] {
    const [schemas, levels] = [this.#schemas.version, this.#levels.version];
    if (schemas !== this.#seenSchemas || levels !== this.#seenLevels) {
      this.#ordered = this.#read();
      this.#seenSchemas = schemas;
      this.#seenLevels = levels;
    }
    return this.#ordered;
  }

  #read(): readonly (readonly [FlowSchema, Flow])[] {
    return this.#schemas
      .list()
      .map(readFlowSchema)
      .sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1))
      .flatMap((schema) => {
        const levelUid = this.#levels.get('', schema.level)?.metadata.uid;
        return levelUid === undefined ? [] : [[schema, { schemaUid: schema.uid, levelUid }] as const];
      });
  }
}
