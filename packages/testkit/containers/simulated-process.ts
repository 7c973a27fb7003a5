/** What a simulated process needs from what it runs in. */
export interface ProcessSurroundings {
  readonly hasTerminal: boolean;
  readonly print: (stream: 'stdout' | 'stderr', text: string) => void;
  readonly onEnd: (code: number, isOutOfMemory: boolean) => void;
  /** `undefined` where there is no such file. */
  readonly readFile: (path: string) => string | undefined;
  /** False where it may not be written. */
  readonly appendFile: (path: string, text: string) => boolean;
  /** By the name of the step that asks for it: `variable NAME`, `user`, `host`, `directory`, `processes`. */
  readonly ask: (question: string) => string;
  readonly listen: (port: number) => void;
  /** What it may take before it is ended; without one it may take all. */
  readonly memoryLimitBytes: number | undefined;
}

/** Ended by SIGKILL. */
const killedCode = 137;

/** The guest of the contract of containers: takes its arguments as steps. With none it waits for good, as a server does. */
export class SimulatedProcess {
  readonly #surroundings: ProcessSurroundings;
  readonly #steps: string[];
  readonly #input: string[] = [];
  #waitsFor: 'nothing' | 'input' | 'good' = 'nothing';
  #isInputEnded: boolean;
  #isDeaf = false;
  #isEnded = false;

  constructor(
    steps: readonly string[],
    options: { readonly hasInput: boolean; readonly surroundings: ProcessSurroundings },
  ) {
    this.#steps = [...steps];
    this.#isInputEnded = !options.hasInput;
    this.#surroundings = options.surroundings;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Goes on with its steps as far as it can. */
  run(): void {
    this.#waitsFor = 'nothing';
    while (!this.#isEnded && this.#waitsFor === 'nothing') {
      const step = this.#steps[0];
      if (step === undefined) return this.#end(0);
      this.#take(step);
      if (this.#waitsFor === 'nothing') this.#steps.shift();
    }
  }

  type(text: string): void {
    if (this.#surroundings.hasTerminal) {
      const [typed = '', ...rest] = text.split('\u0004');
      if (typed !== '') this.#surroundings.print('stdout', typed);
      if (typed !== '') this.#input.push(typed);
      if (rest.length > 0) this.endInput();
    } else this.#input.push(text);
    if (this.#waitsFor === 'input') this.run();
  }

  endInput(): void {
    this.#isInputEnded = true;
    if (this.#waitsFor === 'input') this.run();
  }

  terminate(): void {
    if (!this.#isDeaf) this.#end(0);
  }

  kill(isOutOfMemory = false): void {
    this.#end(killedCode, isOutOfMemory);
  }

  #take(step: string): void {
    const [word = ''] = step.split(' ');
    const rest = step.slice(word.length + 1);
    const action = this.#actions[word];
    if (action) action(rest);
    else this.#say(this.#surroundings.ask(step));
  }

  readonly #actions: Readonly<Record<string, (rest: string) => void>> = {
    print: (text) => this.#say(text),
    complain: (text) => this.#surroundings.print('stderr', `${text}\n`),
    flood: (count) => {
      for (let line = 0; line < Number(count); line++) this.#say(String(line).padStart(99, '0'));
    },
    exit: (code) => this.#end(Number(code)),
    stay: () => this.#wait('good'),
    hog: () => {
      if (this.#surroundings.memoryLimitBytes === undefined) this.#wait('good');
      else this.kill(true);
    },
    deaf: () => {
      this.#isDeaf = true;
    },
    echo: () => this.#echo(),
    show: (path) => {
      const text = this.#surroundings.readFile(path);
      if (text === undefined) this.#surroundings.print('stderr', `${path}: No such file or directory\n`);
      else this.#surroundings.print('stdout', text);
    },
    append: (rest) => {
      const [path = ''] = rest.split(' ');
      const text = rest.slice(path.length + 1);
      if (!this.#surroundings.appendFile(path, `${text}\n`)) this.#say('refused');
    },
    terminal: () => this.#say(this.#surroundings.hasTerminal ? 'yes' : 'no'),
    listen: (port) => this.#surroundings.listen(Number(port)),
  };

  #echo(): void {
    for (const text of this.#input.splice(0)) this.#surroundings.print('stdout', text);
    if (!this.#isInputEnded) this.#wait('input');
  }

  #say(text: string): void {
    this.#surroundings.print('stdout', `${text}\n`);
  }

  #wait(what: 'input' | 'good'): void {
    this.#waitsFor = what;
  }

  #end(code: number, isOutOfMemory = false): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#surroundings.onEnd(code, isOutOfMemory);
  }
}
