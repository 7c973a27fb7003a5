import type { NameAnswer, NameQuestion, NameRecord, NameServer, ProxyBackend } from '@sheaf/ports';

const mostAliases = 8;

type Asked = readonly NameRecord[] | 'absent' | 'silence';

/** Names without any network: who has it can ask at once. */
export class SimulatedNameServer implements NameServer {
  /** Those of the host, in turn; `silence`: the next one is asked. */
  readonly resolvers: ((question: NameQuestion) => Asked)[] = [];
  readonly domains: string[] = [];
  #answer: ((question: NameQuestion) => NameAnswer) | undefined;

  start(answer: (question: NameQuestion) => NameAnswer): Promise<ProxyBackend> {
    this.#answer = answer;
    return Promise.resolve({ address: '127.0.0.1', port: 5353 });
  }

  searches(): readonly string[] {
    return this.domains;
  }

  dispose(): void {
    this.#answer = undefined;
  }

  /** As a client would see it. */
  ask(question: NameQuestion): Asked | 'failed' {
    return this.#ask({ ...question, name: question.name.toLowerCase() }, mostAliases);
  }

  #ask(question: NameQuestion, left: number): Asked | 'failed' {
    const answer = this.#answer?.(question) ?? { kind: 'later' };
    switch (answer.kind) {
      case 'records':
        return answer.records;
      case 'absent':
        return 'absent';
      case 'later':
        return 'failed';
      case 'elsewhere':
        return this.#elsewhere(question);
      case 'alias':
        if (question.type === 'CNAME') return [{ name: question.name, type: 'CNAME', target: answer.target }];
        return left === 0 ? 'failed' : this.#ask({ ...question, name: answer.target }, left - 1);
    }
  }

  #elsewhere(question: NameQuestion): Asked | 'failed' {
    return (
      this.resolvers.map((resolver) => resolver(question)).find((each) => each !== 'silence') ?? 'failed'
    );
  }
}
