;; A tool without a language: the contract by hand, around a core module of whose instructions and tables no
;; compiler takes anything away. Tests put what they try in the place of the comments in brackets.
(component
  (type $a (enum "run" "format-arguments"))
  (export $action "action" (type $a))
  (type $c (record (field "root" string) (field "action" $action)))
  (export $context "context" (type $c))
  (type $e (record (field "message" string) (field "trace" (list string)) (field "transient" bool)))
  (export $error-info "error-info" (type $e))
  (type $q (record
    (field "id" string) (field "text" string) (field "answer-type" string)
    (field "default" (option string))))
  (export $question "question" (type $q))
  (type $o (variant
    (case "success" string) (case "error" $error-info) (case "needs-input" $question)))
  (export $outcome "outcome" (type $o))

  (; modules ;)

  (core module $tool
    (memory (export "memory") 1)
    ;; What success answers with.
    (data (i32.const 16) "refused")
    (; fields ;)
    ;; Everything that comes is put on the same place: nobody reads it.
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "run")
      ;; ctx.root, ctx.action, name, arguments, answers
      (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
      (; body ;)
      ;; outcome at 0: the case `success`, and at 4 and 8 where its string is.
      (i32.store8 (i32.const 0) (i32.const 0))
      (i32.store (i32.const 4) (i32.const 16))
      (i32.store (i32.const 8) (i32.const 7))
      (; result ;)
      (i32.const 0)))
  (core instance $i (instantiate $tool))
  (alias core export $i "memory" (core memory $memory))
  (alias core export $i "realloc" (core func $realloc))
  (alias core export $i "run" (core func $run))
  (type $f (func
    (param "ctx" $context) (param "name" string) (param "arguments" string) (param "answers" string)
    (result $outcome)))
  (func $lifted (type $f) (canon lift (core func $run) (memory $memory) (realloc $realloc)))
  (export "run" (func $lifted)))
