import type { Random } from '@sheaf/base';
import type { NameAnswer, NameQuestion, NameRecord } from '@sheaf/ports';
import type { Forwarder, Way } from './forwarder.ts';
import { MalformedMessage, type Query, readAnswer, readQuery } from './message-reader.ts';
import { longestReply, type Reply, writeFailure, writeQuery, writeReply } from './message-writer.ts';
import { internetClass, type ResponseCode, responseCodes } from './record-types.ts';

export interface AnswerParts {
  readonly answer: (question: NameQuestion) => NameAnswer;
  readonly forwarder: Pick<Forwarder, 'ask'>;
  readonly random: Random;
}

const mostAliases = 8;
const longestOverTcp = 65_535;

/** The answer to a message; `undefined`: it is not to be answered. Never rejects. */
export async function answerMessage(
  parts: AnswerParts,
  message: Buffer,
  way: Way,
): Promise<Buffer | undefined> {
  let query: Query;
  try {
    query = readQuery(message);
  } catch (error) {
    if (!(error instanceof MalformedMessage) || error.id === undefined) return undefined;
    return writeFailure(
      error.id,
      error.isNotImplemented ? responseCodes.notImplemented : responseCodes.malformed,
    );
  }
  const limit = way === 'UDP' ? longestReply(query) : longestOverTcp;
  const say = (reply: Reply): Buffer => writeReply(query, reply, limit);
  if (query.class !== internetClass) return say(bare(responseCodes.refused));
  const answer = parts.answer(query);
  if (answer.kind === 'elsewhere')
    return (await parts.forwarder.ask(message, way)) ?? say(bare(responseCodes.failed));
  return say(answer.kind === 'alias' ? await follow(parts, query, answer.target) : own(answer, parts.random));
}

function bare(code: ResponseCode): Reply {
  return { code, isOwn: false, records: [] };
}

function own(answer: Exclude<NameAnswer, { kind: 'alias' | 'elsewhere' }>, random: Random): Reply {
  if (answer.kind === 'later') return bare(responseCodes.failed);
  const authority = [authorityOf(answer.zone)];
  if (answer.kind === 'absent') return { code: responseCodes.absent, isOwn: true, records: [], authority };
  const { records, further = [] } = answer;
  return {
    code: responseCodes.done,
    isOwn: true,
    records: shuffled(records, random),
    ...(records.length === 0 && { authority }),
    further,
  };
}

/** Clients do not follow aliases themselves: what is behind one is answered with it. */
async function follow(parts: AnswerParts, query: Query, first: string): Promise<Reply> {
  const records: NameRecord[] = [];
  let [name, target] = [query.spelling, first];
  for (let count = 0; count < mostAliases; count++) {
    records.push({ name, type: 'CNAME', target });
    if (query.type === 'CNAME') return { code: responseCodes.done, isOwn: true, records };
    const answer = parts.answer({ name: target.toLowerCase(), type: query.type });
    if (answer.kind === 'elsewhere') return joined(records, await lookUp(parts, target, query));
    if (answer.kind !== 'alias') return joined(records, own(answer, parts.random));
    [name, target] = [target, answer.target];
  }
  return bare(responseCodes.failed);
}

function joined(aliases: readonly NameRecord[], reply: Reply): Reply {
  return { ...reply, isOwn: true, records: [...aliases, ...reply.records] };
}

/** Over TCP where it does not fit. */
async function lookUp(
  { forwarder, random }: AnswerParts,
  name: string,
  { typeNumber }: Query,
): Promise<Reply> {
  const question = writeQuery(random.integer(0x1_00_00), name, typeNumber);
  const answer = await forwarder.ask(question, 'UDP');
  const whole = answer && isCut(answer) ? await forwarder.ask(question, 'TCP') : answer;
  if (!whole) return bare(responseCodes.failed);
  try {
    const { code, records } = readAnswer(whole);
    const known = Object.values(responseCodes).find((each) => each === code) ?? responseCodes.failed;
    return { code: known, isOwn: false, records };
  } catch (error) {
    if (!(error instanceof MalformedMessage || error instanceof RangeError)) throw error;
    return bare(responseCodes.failed);
  }
}

function isCut(message: Buffer): boolean {
  return (message.readUInt16BE(2) & 0x0200) !== 0;
}

/** Clients mostly take the first. */
function shuffled(records: readonly NameRecord[], random: Random): readonly NameRecord[] {
  const left = [...records];
  return records.flatMap(() => left.splice(random.integer(left.length), 1));
}

function authorityOf(zone: string): NameRecord {
  return { name: zone, type: 'SOA', server: `ns.dns.${zone}`, mailbox: `hostmaster.${zone}`, serial: 1 };
}
