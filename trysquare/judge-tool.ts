// The one tool of a judge: `verdict`, built from the metrics its scenario declares. Answers of another form go back to
// the model as errors, so that it can correct them.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** One metric: the key it has in the tool's arguments, and the name the scenario gives it. */
interface Field {
  key: string;
  metric: string;
}

interface Answer {
  value: boolean | number;
  reason: string;
}

const FIELDS = "TRYSQUARE_VERDICT";

function parameters(fields: Field[]) {
  const answer = (metric: string) => ({
    type: "object",
    description: `Your verdict on the metric ${JSON.stringify(metric)}.`,
    properties: {
      value: {
        anyOf: [{ type: "boolean" }, { type: "number" }],
        description: "true or false; a number only where the rubric asks for a number",
      },
      reason: { type: "string", minLength: 1, description: "Why, in one or two sentences that point at the material." },
    },
    required: ["value", "reason"],
    additionalProperties: false,
  });
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(({ key, metric }) => [key, answer(metric)])),
    required: fields.map(({ key }) => key),
    additionalProperties: false,
  };
}

/** What is wrong with the arguments as the model sent them; the host would turn "false" or null into a value. */
function problems(fields: Field[], given: unknown): string[] {
  const answers = (typeof given === "object" && given !== null ? given : {}) as Record<string, Answer | undefined>;
  return fields.flatMap(({ key }) => {
    const answer = answers[key];
    if (typeof answer !== "object" || answer === null) return [`${key}: missing, write {"value": ..., "reason": ...}`];
    const found: string[] = [];
    const sound = typeof answer.value === "boolean" || (typeof answer.value === "number" && isFinite(answer.value));
    if (!sound) found.push(`${key}.value: write true, false or a number, not ${JSON.stringify(answer.value)}`);
    if (typeof answer.reason !== "string" || answer.reason.trim() === "") found.push(`${key}.reason: write a reason`);
    return found;
  });
}

export default function (pi: ExtensionAPI) {
  const fields = JSON.parse(process.env[FIELDS] ?? "[]") as Field[];
  pi.registerTool({
    name: "verdict",
    label: "Verdict",
    description: "Records your verdict. Call it exactly once, with a value and a reason for every metric.",
    promptSnippet: "Record the verdict, once, with every metric and its reason",
    parameters: parameters(fields) as never,
    executionMode: "sequential",
    prepareArguments(given) {
      const found = problems(fields, given);
      if (found.length > 0) throw new Error(`This is no verdict, call the tool again:\n${found.join("\n")}`);
      return given as never;
    },
    async execute() {
      return { content: [{ type: "text", text: "The verdict is recorded." }], details: undefined, terminate: true };
    },
  });
}
