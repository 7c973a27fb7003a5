/** Why a text cannot be the value of a setting. The message says what is wrong, `wayOut` what to write instead. */
export class SettingProblem extends Error {
  override readonly name = 'SettingProblem';
  readonly wayOut: string;

  constructor(message: string, wayOut: string) {
    super(message);
    this.wayOut = wayOut;
  }
}
