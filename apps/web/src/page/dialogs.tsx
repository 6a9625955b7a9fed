import {
  createContext,
  type FormEvent,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";

import { keepToken, queries, readToken, ServiceError } from "./api.ts";
import { usePreferences } from "./preferences.tsx";

/** What the reader is asked before something is done. */
export interface Question {
  readonly title: string;
  readonly body: string;
  readonly action: string;
  /** True where it cannot be undone. */
  readonly grave?: boolean;
  /** A line that the reader may fill, with its label; its text comes back. */
  readonly input?: { readonly label: string; readonly value: string; readonly pattern?: string };
}

/** Ways to ask the reader, and to say what came of it. */
export interface Dialogs {
  /** Asks; gives the text of the input ("" without one), or null where the reader says no. */
  readonly ask: (question: Question) => Promise<string | null>;
  /** Says something for a while, to be read out. */
  readonly say: (text: string, isError?: boolean) => void;
  /** Says what went wrong; a refusal opens the dialog for the token. */
  readonly sayError: (error: unknown) => void;
  readonly openToken: () => void;
  readonly hasToken: boolean;
  /** Differs with each token: what follows the service connects anew. */
  readonly connection: number;
}

const Context = createContext<Dialogs | null>(null);

/** The page's dialogs. Only below {@link DialogsProvider}. */
export function useDialogs(): Dialogs {
  const dialogs = use(Context);
  if (dialogs === null) throw new Error("No dialogs above this part of the page.");
  return dialogs;
}

interface Asked {
  readonly question: Question;
  readonly answer: (text: string | null) => void;
}

/** Holds the dialogs and the line that says what was done. */
export function DialogsProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { t } = usePreferences();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [isTokenOpen, setTokenOpen] = useState(false);
  const [hasToken, setHasToken] = useState(() => readToken() !== null);
  const [connection, setConnection] = useState(0);
  const [said, setSaid] = useState<{ readonly text: string; readonly isError: boolean } | null>(null);
  const say = useCallback((text: string, isError = false) => setSaid({ text, isError }), []);
  const ask = useCallback(
    (question: Question) => new Promise<string | null>((answer) => setAsked({ question, answer })),
    [],
  );
  const openToken = useCallback(() => setTokenOpen(true), []);
  const sayError = useCallback(
    (error: unknown) => {
      if (error instanceof ServiceError && error.status === 401) setTokenOpen(true);
      else say(error instanceof Error ? error.message : String(error), true);
    },
    [say],
  );
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), said.isError ? 20_000 : 8000);
    return () => clearTimeout(timer);
  }, [said]);
  const dialogs = useMemo(
    () => ({ ask, say, sayError, openToken, hasToken, connection }),
    [ask, say, sayError, openToken, hasToken, connection],
  );
  const answer = (text: string | null) => {
    asked?.answer(text);
    setAsked(null);
  };
  return (
    <Context value={dialogs}>
      {children}
      {asked !== null && <QuestionDialog question={asked.question} onAnswer={answer} />}
      {isTokenOpen && (
        <QuestionDialog
          question={{
            title: t("token.title"),
            body: t("token.body"),
            action: t("token.use"),
            input: { label: t("token.label"), value: readToken() ?? "" },
          }}
          isSecret
          onAnswer={(text) => {
            setTokenOpen(false);
            if (text === null) return;
            keepToken(text.trim() === "" ? null : text.trim());
            setHasToken(readToken() !== null);
            setConnection((before) => before + 1);
            void queries.invalidateQueries();
          }}
        />
      )}
      <div className={`said${said?.isError ? " said-error" : ""}`} role="status" aria-live="polite">
        {said?.text}
      </div>
    </Context>
  );
}

/** The browser's own modal dialog: it holds the focus, closes by Escape and gives the focus back. */
function QuestionDialog(props: {
  readonly question: Question;
  readonly isSecret?: boolean;
  readonly onAnswer: (text: string | null) => void;
}): ReactNode {
  const { t } = usePreferences();
  const { question, onAnswer } = props;
  const [text, setText] = useState(question.input?.value ?? "");
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAnswer(text);
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        onAnswer(null);
      }}
    >
      <form onSubmit={submit}>
        <h2 id={title}>{question.title}</h2>
        <p>{question.body}</p>
        {question.input !== undefined && (
          <label className="field">
            {question.input.label}
            <input
              type={props.isSecret ? "password" : "text"}
              autoComplete="off"
              spellCheck={false}
              value={text}
              {...(question.input.pattern === undefined ? {} : { pattern: question.input.pattern })}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          </label>
        )}
        <div className="buttons">
          <button type="button" onClick={() => onAnswer(null)}>
            {t("cancel")}
          </button>
          <button type="submit" className={question.grave ? "grave" : "main"}>
            {question.action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
