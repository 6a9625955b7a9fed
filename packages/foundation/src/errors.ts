/** Facts that help to find an error's cause; never keys, prompts or replies. */
export type ErrorContext = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Base of every error that this project throws on purpose.
 *
 * `code` is stable and machine-readable; `retry` tells whether the same call may succeed later with nothing changed.
 */
export class HalluMazeError extends Error {
  readonly code: string;
  readonly retry: boolean;
  readonly context: ErrorContext;

  constructor(
    code: string,
    message: string,
    options: { readonly retry?: boolean; readonly context?: ErrorContext; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retry = options.retry ?? false;
    this.context = options.context ?? {};
  }
}
